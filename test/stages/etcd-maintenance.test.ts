import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { Deadline } from "../../provider/deadline";
import {
    ETCD_MAINTENANCE,
    findMaintenance,
    installMaintenance,
    removeMaintenance,
} from "../../provider/stages/etcd-maintenance";
import { cleanFolders } from "../../provider/stages/reset-host";
import { only } from "../support/fake-calls";
import { type Scene, scene } from "../support/fake-operation";

const soon = (): Deadline => Deadline.after(5000);
const NAME = "etcd-maintenance.service";
const UNIT = `/etc/systemd/system/${NAME}`;
const DROP_IN = `${UNIT}.d/limits.conf`;
const TEXT = `[Service]
EnvironmentFile=-/etc/default/etcd-maintenance
ExecStart=${ETCD_MAINTENANCE} serve --config=/etc/etcd-maintenance/config.yaml --cacert /var/lib/k0s/pki/etcd/ca.crt
`;

function world(): Scene {
    const made = scene({ helper: {}, target: {} });
    made.helperFiles
        .set(ETCD_MAINTENANCE, "program")
        .set(UNIT, TEXT)
        .set(DROP_IN, "[Service]\nLimitNOFILE=1024\n")
        .set("/etc/default/etcd-maintenance", "PORT=18088")
        .set("/etc/etcd-maintenance/config.yaml", "grpcPort: 5557")
        .set("/var/lib/k0s/pki/etcd/ca.crt", "k0s's");
    const helper = made.operation.cluster.helper;
    Object.assign(helper.material, { unitsOf: async () => [UNIT, DROP_IN] });
    return made;
}

async function install({ operation }: Scene): Promise<unknown> {
    const service = await findMaintenance(operation, soon());
    assert.ok(service);
    return installMaintenance(operation, service, soon());
}

describe("the etcd maintenance service", () => {
    it("is absent where the helper has none, or no unit of it", async () => {
        const none = scene();
        assert.equal(await findMaintenance(none.operation, soon()), undefined);
        none.helperFiles.set(ETCD_MAINTENANCE, "program");
        assert.equal(await findMaintenance(none.operation, soon()), undefined);
    });

    it("is installed with what its unit names, but nothing of k0s's, and started", async () => {
        const given = world();
        assert.equal(await install(given), `${NAME} from 10.0.0.1`);
        assert.deepEqual(
            [...given.files.keys()].sort(),
            [
                ETCD_MAINTENANCE,
                UNIT,
                DROP_IN,
                "/etc/default/etcd-maintenance",
                "/etc/etcd-maintenance/config.yaml",
            ].sort(),
        );
        assert.equal(given.material.units.get(NAME), "up");
        assert.ok(
            given.calls.findIndex((call) => call.startsWith("c3 writeMarker")) <
                given.calls.findIndex((call) => call.startsWith("c3 putExecutable")),
        );
    });

    it("stays as the host has it, and is not ours to remove then", async () => {
        const given = world();
        given.files.set(UNIT, "its own").set(ETCD_MAINTENANCE, "its own");
        await install(given);
        assert.equal(given.files.get(UNIT), "its own");
        assert.equal(given.material.units.get(NAME), "up");
        await removeMaintenance(given.operation, soon());
        assert.equal(given.material.units.get(NAME), "up");
        assert.deepEqual(given.operation.progress.marked?.put?.units, []);
    });

    it("is stopped, disabled and removed, with its files, by a removal", async () => {
        const given = world();
        await install(given);
        given.calls.length = 0;
        await removeMaintenance(given.operation, soon());
        assert.deepEqual(only(given.calls, "c3 material"), [
            `c3 material unit down ${NAME}`,
            `c3 material remove ${UNIT} ${DROP_IN} ${UNIT}.d`,
            `c3 material unit forget ${NAME}`,
        ]);
        await cleanFolders(given.operation, soon());
        assert.deepEqual([...given.files.keys()], []);
    });
});
