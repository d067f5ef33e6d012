import CloudServer
import CloudStore
import HTTPServer

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// `yap serve`: the service on a port, until it is told to end.
enum ServeCommand {
    static let portDefault = 8080

    static let command = Command(
        name: "serve", summary: "serve a folder's containers on a port",
        details: """
            The log goes to the standard output, a line of JSON a request; what a person should read to the standard
            error. SIGTERM or Ctrl-C ends it in order: no more connections, requests in flight get their answers, the
            files close. A second one ends it at once; what was acknowledged is on disk either way.
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
                help: "what clients call the server, when a proxy stands in front"),
            Command.Option(
                name: "trust-forwarded-for",
                help: "limit sign-ins by X-Forwarded-For's last entry: behind a proxy of your own only"),
            Command.Option(
                name: "metrics", help: "answer GET /metrics, to whoever asks"),
        ],
        json:
            "the log begins with {\"event\": \"listening\", \"url\", \"port\", \"process\", \"data\"} instead of words",
        examples: ["init --container iCloud.com.example.todo", "serve --port 0"],
        run: run)

    private static func run(_ invocation: Invocation, _ console: Console) throws {
        let options = try serverOptions(invocation)
        let control = try invocation.control(console)
        let folder = invocation.dataFolder(console)
        let lock = try folder.lock()
        // Before the server's threads are born, which inherit it: signals wait for `StopSignals.wait`.
        let signals = StopSignals()
        let server = try CloudServer(
            dataFolder: folder, control: control, accounts: ControlAccounts(control),
            signIn: SignInCheck(control), options: options)
        try server.start()
        let portFile = invocation.value("port-file")
        if let portFile { try writePort(server.port, to: portFile) }
        try announce(server, invocation, console, control)
        signals.wait()
        console.note("ending; once more ends it at once")
        signals.endAtOnceAtTheNext()
        server.stop()
        if let portFile { unlink(portFile) }
        withExtendedLifetime(lock) {}
        console.note("ended")
    }

    private static func serverOptions(_ invocation: Invocation) throws -> CloudServerOptions {
        var options = CloudServerOptions()
        options.http.host = invocation.value("host") ?? "127.0.0.1"
        options.http.port = try invocation.number("port", in: 0...65_535) ?? portDefault
        options.publicURL = invocation.value("public-url")
        options.trustsForwardedFor = invocation.has("trust-forwarded-for")
        options.servesMetrics = invocation.has("metrics")
        options.log = DescriptorLogSink()
        switch (invocation.value("tls-certificate"), invocation.value("tls-key")) {
        case (nil, nil): break
        case (let certificate?, let key?):
            options.http.tls = HTTPServerTLSOptions(certificatePath: certificate, privateKeyPath: key)
        default: throw Failure.usage("--tls-certificate and --tls-key go together")
        }
        return options
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
                    ("data", .string(folder.path)),
                ]))
        }
        let containers = try control.containers().map(\.identifier)
        console.note("listening on \(server.url)")
        console.note(
            "serving \(folder.path): "
                + (containers.isEmpty ? "no container yet" : containers.joined(separator: ", ")))
        console.note(
            NextSteps.text(
                console, data: invocation.dataWords(console),
                container: containers.first ?? "iCloud.com.example.todo", url: server.url))
        console.note("Ctrl-C ends it.")
    }

    /// The file is there with its content or not at all: it gets its name when it is written.
    private static func writePort(_ port: Int, to path: String) throws {
        let text = "\(port)\n"
        let draft = "\(path).\(getpid())"
        let descriptor = open(draft, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0o644)
        let isWritten =
            descriptor >= 0 && write(descriptor, text, text.utf8.count) == text.utf8.count
            && close(descriptor) == 0 && rename(draft, path) == 0
        guard isWritten else {
            throw Failure.failed("\(path) can't be written: \(String(cString: strerror(errno)))")
        }
    }
}
