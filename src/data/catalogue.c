/* catalogue - see catalogue.h. */
#include "data/catalogue.h"

#include <string.h>

static const struct sb_catalogue_row rows[] = {
    {"mnist",
     "handwritten digits, 28 x 28",
     "https://storage.googleapis.com/cvdf-datasets/mnist/",
     SB_PACK_NONE,
     11600000,
     {{"train-images-idx3-ubyte.gz", 9912422,
       "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"},
      {"train-labels-idx1-ubyte.gz", 28881,
       "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"},
      {"t10k-images-idx3-ubyte.gz", 1648877,
       "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"},
      {"t10k-labels-idx1-ubyte.gz", 4542,
       "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"}}},
    {"fashion-mnist",
     "clothes, 28 x 28",
     "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
     SB_PACK_NONE,
     30900000,
     {{"train-images-idx3-ubyte.gz", 26421880,
       "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84"},
      {"train-labels-idx1-ubyte.gz", 29515,
       "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845"},
      {"t10k-images-idx3-ubyte.gz", 4422102,
       "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073"},
      {"t10k-labels-idx1-ubyte.gz", 5148,
       "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5"}}},
    {"kmnist",
     "cursive Japanese letters, 28 x 28",
     "http://codh.rois.ac.jp/kmnist/dataset/kmnist/",
     SB_PACK_NONE,
     21300000,
     {{"train-images-idx3-ubyte.gz", 18165135,
       "51467d22d8cc72929e2a028a0428f2086b092bb31cfb79c69cc0a90ce135fde4"},
      {"train-labels-idx1-ubyte.gz", 29497,
       "e38f9ebcd0f3ebcdec7fc8eabdcdaef93bb0df8ea12bee65224341c8183d8e17"},
      {"t10k-images-idx3-ubyte.gz", 3041136,
       "edd7a857845ad6bb1d0ba43fe7e794d164fe2dce499a1694695a792adfac43c5"},
      {"t10k-labels-idx1-ubyte.gz", 5120,
       "20bb9a0ef54c7db3efc55a92eef5582c109615df22683c380526788f98e42a1c"}}},
    {"cifar10",
     "10 kinds of things, 32 x 32 in colour",
     "https://www.cs.toronto.edu/~kriz/",
     SB_PACK_TAR,
     184500000,
     {{"cifar-10-binary.tar.gz", 170052171,
       "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd"}}},
    {"cifar100",
     "100 kinds of things, 32 x 32 in colour",
     "https://www.cs.toronto.edu/~kriz/",
     SB_PACK_TAR,
     184600000,
     {{"cifar-100-binary.tar.gz", 168513733,
       "58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec"}}},
    {"svhn",
     "digits of house numbers, 32 x 32 in colour",
     "http://ufldl.stanford.edu/housenumbers/",
     SB_PACK_NONE,
     246400000,
     {{"train_32x32.mat", 182040794,
       "435e94d69a87fde4fd4d7f3dd208dfc32cb6ae8af2240d066de1df7508d083b8"},
      {"test_32x32.mat", 64275384,
       "cdce80dfb2a2c4c6160906d0bd7c68ec5a99d7ca4831afa54f09182025b6a75b"}}},
    {"cifar10-c",
     "CIFAR-10's test images, corrupted",
     "https://zenodo.org/records/2535967/files/",
     SB_PACK_TAR,
     2918500000,
     {{"CIFAR-10-C.tar", 2918471680,
       "c72763e101c723b7c507b96205f7e938912a5d587376173b825850cf3cb876a7"}}},
    {"cifar100-c",
     "CIFAR-100's test images, corrupted",
     "https://zenodo.org/records/3555552/files/",
     SB_PACK_TAR,
     2918500000,
     {{"CIFAR-100-C.tar", 2918473216,
       "30ee6543a1bfd049fa33834b7c1ada301e7064b7fbe8fc38340eb8b62ced4b33"}}},
};

size_t sb_catalogue_rows(void)
{
    return sizeof rows / sizeof *rows;
}

const struct sb_catalogue_row *sb_catalogue_row(size_t i)
{
    return &rows[i];
}

/* Whether a is b but for a dash after "cifar". */
static int same_name(const char *a, const char *b)
{
    return strcmp(a, b) == 0 || (strncmp(a, "cifar-", 6) == 0 &&
                                 strncmp(b, "cifar", 5) == 0 && !strcmp(a + 6, b + 5));
}

const struct sb_catalogue_row *sb_catalogue_find(const char *name)
{
    for (size_t i = 0; i < sb_catalogue_rows(); i++)
        if (same_name(name, rows[i].name))
            return &rows[i];
    return NULL;
}

uint64_t sb_catalogue_size(const struct sb_catalogue_row *row)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < SB_CATALOGUE_FILES && row->file[i].name; i++)
        bytes += row->file[i].size;
    return bytes;
}
