/** `npm run -s matrix`: every cell of the published table against simulated clusters, a line each. */
import { LogLines } from "./log-lines";
import { nameOf, startMatrix } from "./run-all";

async function main(): Promise<void> {
    const log = new LogLines();
    log.start();
    const only = process.argv[2];
    const { cells, resultOf, done } = startMatrix(log, (cell) => only === undefined || new RegExp(only).test(nameOf(cell)));
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
    process.exitCode = right === cells.length ? 0 : 1;
}

void main();
