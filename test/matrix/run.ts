/**
 * `npm run -s matrix`: every cell of the published table against simulated clusters, a line each. With an argument, a regular
 * expression, only the cells whose name fits: `node dist/test/matrix/run.js 'scenario 6 .* remove'`.
 */
import { readDocument } from "./document";
import { LogLines } from "./log-lines";
import { nameOf, startMatrix } from "./run-all";

async function main(): Promise<void> {
    const log = new LogLines();
    log.start();
    const only = new RegExp(process.argv[2] ?? "");
    const cells = readDocument().filter((cell) => only.test(nameOf(cell)));
    const { resultOf, done } = startMatrix(log, cells);
    let right = 0;
    for (const cell of cells) {
        const { problems, happened, log: lines } = await resultOf(cell);
        const verdict = problems.length === 0 ? "ok   " : "WRONG";
        process.stdout.write(`${verdict} ${nameOf(cell)} | ${cell.words} | ${happened}\n`);
        if (problems.length === 0) right += 1;
        else process.stdout.write([...problems, ...lines].map((line) => `          ${line}\n`).join(""));
    }
    await done;
    log.stop();
    process.stdout.write(`${right} of ${cells.length} cells as specified\n`);
    process.exitCode = right === cells.length && cells.length > 0 ? 0 : 1;
}

void main();
