import CloudStore
import Crypto
import System

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// `yap key ...`: keys with which the developer's programs sign their requests.
enum KeyCommands {
    private static let name = Command.Option(
        name: "name", value: "NAME", help: "the key's name, as the program's", isRequired: true)

    static let create = Command(
        name: "key create", summary: "create or add a server-to-server key for a container",
        details: """
            A program that signs with the key acts as the developer in the public database: it reads and changes every
            record, and has no other database. Either this command generates the pair and writes its private key to a
            new file that only you can read, or you provide the public key of your own pair. The server stores only
            public keys.
            """,
        options: [
            .container, .environment, name,
            Command.Option(
                name: "private-key", value: "FILE",
                help: "generate a pair and write its private key to this file (PEM)"
            ),
            Command.Option(
                name: "public-key", value: "FILE", help: "use this public key on the curve P-256 (PEM)"),
            Command.dataOption,
        ],
        json: #"{"container", "environment", "name", "keyID"}"#,
        examples: [
            "init --container iCloud.com.example.todo",
            "key create --container iCloud.com.example.todo --name jobs --private-key jobs.pem",
        ],
        run: create)

    static let list = Command(
        name: "key list", summary: "list the server-to-server keys",
        options: [
            Command.Option(name: "container", value: "ID", help: "those of this container only"),
            Command.dataOption,
        ],
        json: """
            {"keys": [{"container", "environment", "name", "keyID", "created"}]}: created is in milliseconds \
            since 1970
            """,
        examples: ["init", "key list"],
        run: list)

    static let revoke = Command(
        name: "key revoke", summary: "revoke a key: a running server rejects it within a second",
        options: [.container, .environment, name, Command.dataOption],
        json: #"{"container", "environment", "name"}"#,
        examples: [
            "init --container iCloud.com.example.todo",
            "key create --container iCloud.com.example.todo --name nightly --private-key nightly.pem",
            "key revoke --container iCloud.com.example.todo --name nightly",
        ],
        run: revoke)

    private static func create(_ invocation: Invocation, _ console: Console) throws {
        let environment = try invocation.environment()
        let name = try invocation.required("name")
        let control = try invocation.control(console)
        let container = try invocation.container(in: control, console)
        let publicKey: P256PublicKey
        var secretPath: String?
        switch (invocation.value("private-key"), invocation.value("public-key")) {
        case (let path?, nil):
            let pair = try P256PrivateKey()
            try KeyFile.write(pair.pem, to: path)
            secretPath = path
            publicKey = pair.publicKey
        case (nil, let path?):
            publicKey = try P256PublicKey(pem: KeyFile.read(path))
        default: throw Failure.usage("one of --private-key and --public-key names a file")
        }
        let key: ControlServerKey
        do {
            key = try control.serverKeys.add(
                container: container, environment: environment, name: name, publicKey: publicKey.der)
        } catch {
            if let secretPath { unlink(secretPath) }
            throw error
        }
        if invocation.has("json") {
            return try console.print(
                .object(names(container, environment, name) + [("keyID", .string(key.id))]))
        }
        try console.print("key \(key.id)")
        try console.print(
            "Programs send it as X-Apple-CloudKit-Request-KeyID"
                + (secretPath.map { ", and sign with \($0), which only you may read." } ?? "."))
    }

    private static func list(_ invocation: Invocation, _ console: Console) throws {
        let keys = try invocation.control(console).serverKeys.list(container: invocation.value("container"))
        if invocation.has("json") {
            let rows = keys.map { key -> JSON in
                .object(
                    names(key.container, key.environment, key.name) + [
                        ("keyID", .string(key.id)), ("created", .integer(key.createdMilliseconds)),
                    ])
            }
            return try console.print(.object([("keys", .array(rows))]))
        }
        guard !keys.isEmpty else {
            return console.note("no keys: yap key create --container ID --name NAME --private-key FILE")
        }
        try console.print(
            TextTable.text(
                ["CONTAINER", "ENVIRONMENT", "NAME", "CREATED", "KEY"],
                keys.map {
                    [$0.container, $0.environment, $0.name, TimeText.utc($0.createdMilliseconds), $0.id]
                }))
    }

    private static func revoke(_ invocation: Invocation, _ console: Console) throws {
        let container = try invocation.required("container")
        let environment = try invocation.environment()
        let name = try invocation.required("name")
        let control = try invocation.control(console)
        guard try control.serverKeys.revoke(container: container, environment: environment, name: name) else {
            let keys = try control.serverKeys.list(container: container)
            throw Failure.missing(
                "key", named: name, among: keys.filter { $0.environment == environment }.map(\.name),
                "in \(environment) of \(container)", remedy: "key list", console)
        }
        if invocation.has("json") {
            return try console.print(.object(names(container, environment, name)))
        }
        try console.print("revoked \(name)")
    }

    private static func names(
        _ container: String, _ environment: String, _ name: String
    ) -> [(String, JSON)] {
        [
            ("container", .string(container)), ("environment", .string(environment)),
            ("name", .string(name)),
        ]
    }
}

/// The files of a key.
private enum KeyFile {
    /// Writes a secret to a new file, which only its owner can read from the moment it is created.
    static func write(_ secret: String, to path: String) throws {
        do throws(FileError) {
            try DurableFile.write(secret.utf8, to: path, replacing: false)
        } catch {
            let text = "\(path) can't be made: \(error.reason)"
            throw error.code == EEXIST ? Failure.refused(text) : Failure.failed(text)
        }
    }

    /// Reads a short text that isn't secret.
    static func read(_ path: String) throws -> String {
        do throws(FileError) {
            let file = try OpenFile(path, .reading)
            let bytes = try file.readToEnd(bytesMax: P256PublicKey.textBytesMax + 1)
            return String(decoding: bytes, as: UTF8.self)
        } catch {
            throw Failure.failed("\(path) can't be read: \(error.reason)")
        }
    }
}
