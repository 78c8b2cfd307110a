import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "mocha";
import { dial } from "../../provider/adapters/ssh/dial";
import { closeAll } from "../../provider/adapters/ssh/pool";
import { Deadline } from "../../provider/deadline";
import { ConnectionError, TimeoutError } from "../../provider/errors";
import { forgetControllers } from "../../provider/resource/known-controllers";
import { glance, look } from "../../provider/resource/look";
import { openSession, type Session } from "../../provider/resource/session";
import { inputsOf, type NodeOutputs } from "../../provider/resource/state";
import { World } from "../matrix/world";

const late = new TimeoutError({ stage: "talking over SSH", host: "10.0.0.1", what: "the command did not end in time" });

/** A refresh says the same of a host that is silent, in whichever way and however busy this machine is. */
describe("a host that does not answer", () => {
    let world: World;

    beforeEach(async () => {
        forgetControllers();
        world = await World.make("worker", 20);
        await world.adopt();
    });

    afterEach(async () => {
        closeAll();
        forgetControllers();
        await world.close();
    });

    it("is said to be so by a refresh, also behind a bastion that waits for it", async () => {
        const { id = "", outs = {} } = world.state ?? {};
        world.target.powerOff();
        const timeouts = { ...(outs["timeouts"] as object), connect: 1 };
        const { props } = await world.provider.read(id, { ...outs, timeouts });
        assert.deepEqual(props?.["drift"], ["the host does not answer by SSH"]);
        assert.equal(props["status"], "unreachable");
    });

    it("is silent for a refresh where it takes the login and nothing more; for a decision that is no answer", async () => {
        const outs = world.state?.outs as unknown as NodeOutputs;
        const session = await openSession(inputsOf(outs), outs);
        try {
            const probe = (): Promise<never> => Promise.reject(late);
            const hung: Session = { ...session, target: { ...session.target, probe } };
            const { host, unreachable, otherHostKey } = await glance(hung, outs);
            assert.deepEqual([host, unreachable, otherHostKey], [undefined, late.message, false]);
            await assert.rejects(look(hung, outs), TimeoutError);
        } finally {
            session.close();
        }
    });
});

describe("a bastion that waits for a host until the time is over", () => {
    it("counts as a connection that was not made", async () => {
        const login = { user: "root", port: 22, perDialTimeout: 0, dialErrorLimit: 0, password: "word" };
        const waiting = (): Promise<never> => Promise.reject(late);
        const dialling = dial({ host: "10.0.0.1", origin: undefined }, login, waiting, Deadline.after(50));
        await assert.rejects(
            dialling,
            (error: Error) => error instanceof ConnectionError && /in time/.test(error.message),
        );
    });
});
