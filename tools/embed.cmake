# embed - a file as a C array that ends with a zero byte; an INPUT of "" makes an empty one.
#   cmake -DNAME=sb_asset_style -DINPUT=report.css -DOUTPUT=style.c -P embed.cmake
set(bytes "")
if(INPUT)
    file(READ "${INPUT}" bytes HEX)
    string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
endif()
file(WRITE "${OUTPUT}" "/* Made by tools/embed.cmake of ${INPUT} */\n"
     "#include \"report/assets.h\"\n\nconst unsigned char ${NAME}[] = {\n${bytes}0};\n")
