import { createServer, type Server } from "node:net";
import { afterEach, beforeEach, describe, it } from "mocha";
import { DynamicProvider } from "../support/dynamic-provider";
import { PROGRAM } from "../support/node-bags";
import { freePort } from "../support/program";
import { stubText } from "../support/stub-text";

describe("a provider process that has nothing to do", () => {
    let engine: Server;
    let provider: DynamicProvider;

    beforeEach(async () => {
        engine = createServer((socket) => socket.destroy());
        const port = await freePort();
        await new Promise<void>((resolve) => engine.listen(port, "127.0.0.1", resolve));
        provider = await DynamicProvider.start(undefined, `127.0.0.1:${port}`);
    });

    afterEach(() => provider.stop());

    it("ends by itself when its engine has gone", async () => {
        const __provider = await stubText("controller");
        await provider.check({}, { ...PROGRAM, __provider });
        await new Promise<void>((resolve) => void engine.close(() => resolve()));
        await provider.ended();
    });
});
