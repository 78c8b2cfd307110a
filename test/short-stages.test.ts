import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { prefixedLog } from "../provider/log";
import { withoutShortStarts } from "../provider/short-stages";

const AN_HOUR = 3_600_000;

describe("the line with which a stage starts", () => {
    const toldOf = (...lines: readonly string[]): string[] => {
        const told: string[] = [];
        const tell = withoutShortStarts((line) => void told.push(line), AN_HOUR);
        lines.forEach((line) => tell(line, "normal"));
        return told;
    };

    it("is left out where the next line is about the same stage", () => {
        assert.deepEqual(toldOf("draining …", "draining … 2 pods evicted after 0.1 s", "stopping k0s …"), [
            "draining … 2 pods evicted after 0.1 s",
        ]);
        assert.deepEqual(toldOf("draining …", "draining … failed after 0.1 s"), ["draining … failed after 0.1 s"]);
    });

    it("comes before whatever else is said meanwhile", () => {
        assert.deepEqual(toldOf("draining …", "waiting for another drain", "draining … done after 0.1 s"), [
            "draining …",
            "waiting for another drain",
            "draining … done after 0.1 s",
        ]);
        assert.deepEqual(toldOf("draining …", "draining nothing …", "draining … done after 0.1 s"), [
            "draining …",
            "draining nothing …",
            "draining … done after 0.1 s",
        ]);
    });

    it("comes by itself once the stage has taken a while, and once only", async () => {
        const told: string[] = [];
        const first = new Promise<void>((resolve) => {
            const tell = withoutShortStarts((line) => {
                told.push(line);
                if (told.length === 1) resolve();
            }, 1);
            tell("draining …", "normal");
            // The timer of the log keeps nobody waiting.
            const waiting = setInterval(() => {
                if (told.length === 0) return;
                clearInterval(waiting);
                tell("draining … done after 0.1 s", "normal");
            }, 1);
        });
        await first;
        while (told.length < 2) await new Promise((resolve) => setTimeout(resolve, 1));
        assert.deepEqual(told, ["draining …", "draining … done after 0.1 s"]);
    });

    it("is held back in the log of a resource", () => {
        const told: string[] = [];
        const log = prefixedLog("c2", (line) => void told.push(line));
        log.line("draining …");
        log.line("draining … done after 0.1 s");
        assert.deepEqual(told, ["c2: draining … done after 0.1 s"]);
    });
});
