// onnx_predict.js MODEL - one dense network predicting in ONNX Runtime: the peer of
// `bench predict`. MODEL is an export of `bench export`, which has normalisation and softmax.
//
// Throughput is the best batch, latency the median of single images. Prints one JSON object.
// NODE_PATH says where onnxruntime-node is (tools/onnxruntime).
//
//   --arch NAME (for the output)  --shape C,H,W  --batch N  --threads N  --seconds S
"use strict";
const ort = require("onnxruntime-node");

const want = { arch: "", shape: "3,32,32", batch: "128", threads: "2", seconds: "1" };
const args = process.argv.slice(3);
for (let i = 0; i < args.length; i += 2) {
    if (!(args[i].slice(2) in want) || args[i + 1] === undefined)
        throw new Error(`unknown or empty option ${args[i]}`);
    want[args[i].slice(2)] = args[i + 1];
}
const shape = want.shape.split(",").map(Number);
const batch = Number(want.batch), seconds = Number(want.seconds);

function images(n) {
    const x = new Float32Array(n * shape.reduce((a, b) => a * b)).map(() => Math.random());
    return { input: new ort.Tensor("float32", x, [n, ...shape]) };
}

async function times(session, feed, least) {
    for (let i = 0; i < 2; i++) // the first ones allocate
        await session.run(feed, ["probabilities"]);
    const out = [], start = performance.now();
    while (out.length < least || performance.now() - start < 1000 * seconds) {
        const begin = performance.now();
        await session.run(feed, ["probabilities"]);
        out.push(performance.now() - begin);
    }
    return out.sort((a, b) => a - b);
}

async function main(model) {
    const session = await ort.InferenceSession.create(model, {
        intraOpNumThreads: Number(want.threads), interOpNumThreads: 1,
        executionMode: "sequential", graphOptimizationLevel: "all",
    });
    const many = await times(session, images(batch), 5);
    const one = await times(session, images(1), 15);
    console.log(JSON.stringify({
        arch: want.arch, density: 1, members: 1, batch, threads: Number(want.threads),
        images_per_second: Math.round(10 * 1000 * batch / many[0]) / 10,
        latency_ms: one[Math.floor(one.length / 2)],
        latency_p99_ms: one[one.length - 1 - Math.floor(one.length / 100)],
        peer: "onnxruntime",
    }));
}

main(process.argv[2]).catch((failure) => {
    console.error(String(failure));
    process.exit(1);
});
