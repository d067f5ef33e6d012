import CloudServer
import CloudStore
import HTTPServer
import System

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// `yap serve`: runs the service on a port until it is stopped.
enum ServeCommand {
    static let portDefault = 8080

    static let command = Command(
        name: "serve", summary: "serve a folder's containers on a port",
        details: """
            The log is written to the standard output, one line of JSON per request. Other messages are written to the
            standard error. SIGTERM or Ctrl-C stops it in order: it accepts no more connections, responds to the
            requests in flight, and closes the files. A second one stops it immediately. Acknowledged writes are on
            disk either way. A new certificate is read when its file changes, or at SIGHUP.

            Settings come from the command line, else from a file: {"port": 8443, "limits": {"recordBytesMax":
            500000}}. --print-config lists them all with unit, default and meaning. An unknown name is an error.
            """,
        options: [
            Command.dataOption,
            Command.Option(
                name: "host", value: "ADDRESS", help: "listen on this address (default 127.0.0.1)"),
            Command.Option(
                name: "port", value: "NUMBER",
                help: "listen on this port (default \(portDefault)); 0 takes any free one"),
            Command.Option(
                name: "port-file", value: "FILE", help: "write the port into this file once it listens"),
            Command.Option(
                name: "tls-certificate", value: "FILE", help: "serve https with this certificate chain (PEM)"),
            Command.Option(name: "tls-key", value: "FILE", help: "the certificate's private key (PEM)"),
            Command.Option(
                name: "public-url", value: "URL",
                help: "the server's URL for clients, if it is behind a proxy"),
            Command.Option(
                name: "trust-forwarded-for",
                help: "take a client's address from X-Forwarded-For's last entry: behind your own proxy only"),
            Command.Option(
                name: "development", value: "WHO",
                help:
                    "users of development: everyone, developers, or auto (default: everyone on loopback only)",
                choices: ["everyone", "developers", "auto"]),
            Command.Option(
                name: "dashboard", value: "WHERE",
                help:
                    "off, or auto (default): on loopback, and elsewhere once an administrator has a password",
                choices: ["off", "auto"]),
            Command.Option(
                name: "history", value: "WHETHER",
                help: "on (default) or off: keep a history of requests for a while, without values of fields"),
            Command.Option(
                name: "config", value: "FILE",
                help: "take settings from this file (default: yap.json in the data folder, when there is one)"
            ),
            Command.Option(
                name: "set", value: "NAME=VALUE", help: "another setting, by its name in the file",
                repeats: true),
            Command.Option(
                name: "print-config", help: "print all settings and the source of each, and exit"),
            Command.Option(
                name: "metrics", help: "serve GET /metrics, without authentication"),
        ],
        json:
            "the log begins with {\"event\": \"listening\", \"url\", \"port\", \"process\", \"data\", "
            + "\"dashboard\"} instead of "
            + "words;\n"
            + "with --print-config {\"settings\": [{\"name\", \"value\", \"from\", \"default\", "
            + "\"unit\", \"what\"}]}",
        examples: [
            "init --container iCloud.com.example.todo", "serve --port 0",
            "serve --print-config --set logLinesMax=100",
        ],
        run: run)

    private static func run(_ invocation: Invocation, _ console: Console) throws {
        let settings = try settings(invocation, console)
        var options = try settings.serverOptions()
        options.version = YapProgram.version
        options.log = DescriptorLogSink()
        if invocation.has("print-config") { return try print(settings, invocation, console) }
        let control = try invocation.control(console, settings.signInLengths)
        let folder = invocation.dataFolder(console)
        let lock = try folder.lock()
        // Before the server's threads start, because they inherit the signal mask: signals wait for
        // `StopSignals.wait`.
        let signals = StopSignals(takesHangUp: options.http.tls != nil)
        let memory = MemoryReturn()
        let server = try CloudServer(
            dataFolder: folder, control: control,
            accounts: ControlAccounts(
                control, isDevelopmentForEveryone: options.isDevelopmentForEveryone),
            signIn: SignInCheck(control, isDevelopmentForEveryone: options.isDevelopmentForEveryone),
            witness: FolderWitness(path: settings.witness ?? folder.witnessPath), options: options)
        try server.start()
        let portFile = invocation.value("port-file")
        if let portFile { try writePort(server.port, to: portFile) }
        if let warning = PlainWarning.text(for: options) { console.note(warning) }
        if !options.isDevelopmentForEveryone {
            console.note("development is for developers only: yap account set NAME --developer")
        }
        try announce(server, invocation, console, control)
        while signals.wait() == SIGHUP { server.readCertificateAgain() }
        console.note("ending; once more ends it at once")
        signals.endAtOnceAtTheNext()
        server.stop()
        if let portFile { unlink(portFile) }
        withExtendedLifetime((lock, memory)) {}
        console.note("ended")
    }

    /// Returns the settings by precedence: the command line's, then the file's, then the defaults.
    private static func settings(_ invocation: Invocation, _ console: Console) throws -> ServeSettings {
        var settings = ServeSettings()
        let path = invocation.value("config") ?? ServeSettings.path(in: invocation.dataFolder(console))
        if let path { try settings.read(fileAt: path) }
        try settings.read(invocation)
        return settings
    }

    private static func print(_ settings: ServeSettings, _ invocation: Invocation, _ console: Console) throws
    {
        let usual = ServeSettings()
        if invocation.has("json") {
            let rows = settings.effective.map { setting, value, origin -> JSON in
                .object([
                    ("name", .string(setting.name)), ("value", value), ("from", .string(origin.text)),
                    ("default", setting.place.value(in: usual)), ("unit", .string(setting.unitText)),
                    ("what", .string(setting.what)),
                ])
            }
            return try console.print(.object([("settings", .array(rows))]))
        }
        try console.print(
            TextTable.text(
                ["SETTING", "VALUE", "UNIT", "DEFAULT", "FROM", "WHAT"],
                settings.effective.map { setting, value, origin in
                    [
                        setting.name, value.text, setting.unitText, setting.place.value(in: usual).text,
                        origin.text, setting.what,
                    ]
                }))
    }

    private static func announce(
        _ server: CloudServer, _ invocation: Invocation, _ console: Console, _ control: ControlStore
    ) throws {
        let folder = invocation.dataFolder(console)
        if invocation.has("json") {
            return try console.print(
                .object([
                    ("event", .string("listening")), ("url", .string(server.url)),
                    ("port", .integer(Int64(server.port))), ("process", .integer(Int64(getpid()))),
                    ("data", .string(folder.path)), ("dashboard", .text(server.dashboardURL)),
                ]))
        }
        let containers = try control.containers.list().map(\.identifier)
        console.note("listening on \(server.url)")
        console.note(
            "serving \(folder.path): "
                + (containers.isEmpty ? "no container yet" : containers.joined(separator: ", ")))
        if try containers.isEmpty || control.accounts.list().isEmpty || control.tokens.list().isEmpty {
            console.note(
                NextSteps.text(
                    console, data: invocation.dataWords(console),
                    container: containers.first, url: server.url))
        }
        announceDashboard(server, console)
        console.note("Ctrl-C ends it.")
    }

    /// Prints the dashboard's address and a link for the first administrator. The server runs even if the
    /// link can't be created.
    private static func announceDashboard(_ server: CloudServer, _ console: Console) {
        do {
            if let link = try server.makeFirstDashboardLink() {
                return console.note(
                    "dashboard, for the first administrator, once within 10 minutes:\n  \(link)")
            }
        } catch {
            console.note("no link to the dashboard could be made: \(error)")
        }
        if let dashboardURL = server.dashboardURL { console.note("dashboard: \(dashboardURL)") }
    }

    /// Writes the port to a file. The file gets its name after it was written, so it is either complete or
    /// missing.
    private static func writePort(_ port: Int, to path: String) throws {
        do throws(FileError) {
            try DurableFile.write("\(port)\n".utf8, to: path, mode: 0o644)
        } catch {
            throw Failure.failed("\(path) can't be written: \(error.reason)")
        }
    }
}
