import assert from "node:assert/strict";
import { after, before, describe, it } from "mocha";
import { readDocument } from "./document";
import { LogLines } from "./log-lines";
import { type MatrixRun, nameOf, startMatrix } from "./run-all";

/** All cells run at once, as `npm run matrix` does; a test waits for its own. */
describe("the scenario matrix over the wire", function () {
    this.timeout("30m");
    const log = new LogLines();
    const document = readDocument();
    let run: MatrixRun;

    before(() => {
        log.start();
        run = startMatrix(log, document);
    });

    after(async () => {
        await run.done;
        log.stop();
    });

    it("has 204 cells", () => {
        assert.equal(document.length, 204);
    });

    for (const cell of document) {
        it(`${nameOf(cell)}: ${cell.words}`, async () => {
            const { problems, log: lines } = await run.resultOf(cell);
            assert.deepEqual(problems, [], lines.join("\n"));
        });
    }
});
