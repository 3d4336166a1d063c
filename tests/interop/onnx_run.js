// onnx_run.js MODEL INPUT DIM... - runs an ONNX model on float32 numbers of a file and prints
// its outputs as JSON: {name: {dims, data}}. NODE_PATH says where onnxruntime-node is.
"use strict";
const fs = require("fs");
const ort = require("onnxruntime-node");

async function main([model, input, ...dims]) {
    const bytes = fs.readFileSync(input);
    const x = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
    const session = await ort.InferenceSession.create(model, { intraOpNumThreads: 1 });
    const answers = await session.run({ input: new ort.Tensor("float32", x, dims.map(Number)) });
    const out = {};
    for (const [name, tensor] of Object.entries(answers))
        out[name] = { dims: tensor.dims, data: Array.from(tensor.data) };
    process.stdout.write(JSON.stringify(out));
}

main(process.argv.slice(2)).catch((failure) => {
    console.error(String(failure));
    process.exit(1);
});
