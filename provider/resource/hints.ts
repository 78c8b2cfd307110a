export const NOT_A_PATH = 'is not an input; privateKey takes the key itself: fs.readFileSync(path, "utf8")';

/** For names that are no inputs of a node: what the reader most likely means. */
export const hints = {
    name: "is not an input; did you mean nodeName?",
    // k0sctl's words for a host.
    address: "is the input host",
    ssh: "is the input connection, and its address the input host",
    keyPath: `${NOT_A_PATH}, in connection`,
    bastion: "is the input connection.proxy",
    hostname: "is the input nodeName",
    privateInterface: "is not an input; privateAddress takes the address",
    environment: "is not an input; write a drop-in of the service with @pulumi/command before the node (dependsOn)",
    files: "is not an input; copy them with @pulumi/command before the node (dependsOn). What k0sConfig refers to is copied by itself",
    hooks: "is not an input; run commands of your own with @pulumi/command, before the node or after it (dependsOn)",
    noTaints: 'is not an input; give "--no-taints" among installFlags',
    uploadBinary: "is not needed: k0s is copied from a controller, or from k0s.localPath",
    k0sBinaryPath: "is the input k0s.localPath",
    k0sDownloadURL: "is the input k0s.downloadUrl",
    k0sInstallPath: "is the input k0s.installPath",
    version: "is the input k0s.version",
    user: "is the input connection.user",
    port: "is the input connection.port",
    privateKey: "is the input connection.privateKey",
    password: "is the input connection.password",
    controllers: "is the input cluster.controllers",
};
