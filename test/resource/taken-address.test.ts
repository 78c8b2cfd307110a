import assert from "node:assert/strict";
import { afterEach, describe, it } from "mocha";
import { controller } from "../../provider";
import { openHost } from "../../provider/adapters/ssh/pool";
import { Deadline } from "../../provider/deadline";
import { RefusedError } from "../../provider/errors";
import type { Connection } from "../../provider/inputs";
import type { Bag } from "../../provider/resource/shape";
import { InitFailure } from "../../provider/resource/state";
import { RESOURCES } from "../sim";
import { impatientLocks, World } from "../support/interruption";

/** c3's create failed before it was a member; somebody else re-imaged the machine and joined it by hand. */
describe("a half-made controller whose address is somebody else's controller by now", function () {
    this.timeout("5m");
    impatientLocks();
    let world: World;

    afterEach(() => world.close());

    async function failedCreate(more: Bag): Promise<InitFailure> {
        world.sim.find("c3").failing.set("upload-begin", "disk full");
        try {
            await world.create("c3", { role: "controller", backup: { skip: true }, timeouts: { connect: 5 }, ...more });
        } catch (error) {
            assert.ok(error instanceof InitFailure, String(error));
            return error;
        }
        throw new Error("it was made");
    }

    async function deleted({ id, properties }: InitFailure): Promise<unknown> {
        return controller.delete(id, properties).then(
            () => undefined,
            (error: unknown) => error,
        );
    }

    for (const how of ["does not answer", "shows another host key"] as const) {
        it(`leaves that one's member alone, where the machine ${how}, until it is gone`, async () => {
            world = await World.start(["c2"]);
            const { sim } = world;
            const c3 = sim.find("c3");
            const connection = sim.connectionArgs("c3");
            const login = { ...connection, perDialTimeout: 5, dialErrorLimit: 1 } as unknown as Connection;
            const hostKey = await openHost(c3.address, login).hostKeyFingerprint(Deadline.afterSeconds(60));
            const failed = await failedCreate(
                how === "does not answer"
                    ? { onUnreachable: "remove-from-cluster" }
                    : { connection: { ...connection, hostKey } },
            );
            c3.wipe();
            sim.addSettled("c3", "controller");
            if (how === "does not answer") c3.firewall({ port: 22 });
            const error = await deleted(failed);
            assert.ok(error instanceof RefusedError, String(error));
            assert.equal(error.topic, "ghost-member");
            assert.deepEqual(sim.memberNames(), ["c1", "c2", "c3"]);
            assert.equal(c3.units.installed?.active, "active");
            // As the runbook has it: whoever knows that it is nobody's takes it out.
            const member = sim.members().find(({ name }) => name === "c3");
            sim.requestLeave("c3");
            await sim.until("the member left", () => !sim.members().some(({ id }) => id === member?.id), 120);
            sim.world.act(() => sim.cluster.store.delete(RESOURCES.etcdMembers, "c3"));
            assert.equal(await deleted(failed), undefined);
        });
    }
});
