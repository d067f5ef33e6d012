import CloudStore
import Crypto
import HTTPServer

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Checks of `yap doctor` for serving: settings, port and certificate.
extension DoctorCommand {
    private static let certificateDaysMin = 14

    /// Returns the settings as `yap serve` reads them, and the problems of the file.
    ///
    /// - Throws: `Failure.usage` for a mistake in the command line.
    static func settings(
        _ invocation: Invocation, _ folder: DataFolder
    ) throws -> (settings: ServeSettings, wrong: [Finding]) {
        var settings = ServeSettings()
        var wrong: [Finding] = []
        do {
            let path = invocation.value("config") ?? ServeSettings.path(in: folder)
            if let path { try settings.read(fileAt: path) }
            _ = try settings.serverOptions()
        } catch Failure.failed(let text), Failure.usage(let text) {
            wrong.append(
                Finding(check: "settings", what: text, todo: "put it right: the server doesn't start with it")
            )
        }
        try settings.read(invocation)
        return (settings, wrong)
    }

    // MARK: The port

    /// Checks that the port is free, or, if the folder is being served, that a server answers there.
    static func port(_ options: HTTPServerOptions, isServed: Bool) -> [Finding] {
        var hints = addrinfo()
        hints.ai_flags = AI_PASSIVE
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(options.host, String(options.port), &hints, &list) == 0, let address = list else {
            return [
                Finding(
                    check: "host", what: "\(options.host) is no address of this machine",
                    todo: "give host (--host) one, as 127.0.0.1 or 0.0.0.0")
            ]
        }
        defer { freeaddrinfo(list) }
        let descriptor = socket(address.pointee.ai_family, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        let place = "\(options.host), port \(options.port)"
        if isServed {
            // Connecting to the wildcard address connects to this machine.
            guard connect(descriptor, address.pointee.ai_addr, address.pointee.ai_addrlen) != 0 else {
                return []
            }
            return [
                Finding(
                    check: "port", what: "the folder is served, but there is no response at \(place)",
                    todo: "when the server was given another port on its command line, give doctor the same "
                        + "(--port), or let yap.json have it; else see the server's log")
            ]
        }
        var on: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        guard bind(descriptor, address.pointee.ai_addr, address.pointee.ai_addrlen) != 0 else { return [] }
        return [
            Finding(
                check: "port", what: "\(place) can't be listened on: \(String(cString: strerror(errno)))",
                todo:
                    "end what listens there (ss -ltnp), or serve another with --port; where the folder is only "
                    + "looked at beside a running server, give doctor the --port that it will have")
        ]
    }

    // MARK: The certificate

    /// Checks the expiry of the certificate, the completeness of its chain, its key, and the permissions of the key's
    /// file.
    static func certificate(_ path: String, key: String?) -> [Finding] {
        if let unreadable = unreadable(path, "certificate") { return [unreadable] }
        do {
            let certificate = try TLSCertificate(path: path)
            return try days(certificate, path) + chain(certificate, path)
                + (key.map { Self.key($0, of: certificate, path) } ?? [])
        } catch {
            return [
                Finding(
                    check: "certificate", what: "\(path) holds no certificate (\(error))",
                    todo: "give a file in PEM, which begins with -----BEGIN CERTIFICATE-----")
            ]
        }
    }

    /// Returns a problem if this user can't read the file.
    private static func unreadable(_ path: String, _ check: String) -> Finding? {
        guard access(path, R_OK) != 0 else { return nil }
        return Finding(
            check: check, what: "\(path) can't be read: \(String(cString: strerror(errno)))",
            todo: "check the path, and that the server's user, as which doctor should run, may read it")
    }

    private static func days(_ certificate: TLSCertificate, _ path: String) throws -> [Finding] {
        let seconds = try certificate.secondsLeft()
        let days = seconds / 86_400
        guard days < certificateDaysMin else { return [] }
        return [
            Finding(
                check: "certificate",
                what: seconds < 0 ? "\(path) has expired" : "\(path) is valid for \(days) days",
                todo: "renew it: a running server reads the new one by itself")
        ]
    }

    private static func chain(_ certificate: TLSCertificate, _ path: String) -> [Finding] {
        if let number = certificate.brokenLink {
            return [
                Finding(
                    check: "certificate",
                    what: "in \(path) the certificate \(number) is not issued by the one behind it",
                    todo: "put the server's first, then its issuer's, then that one's issuer's")
            ]
        }
        guard !certificate.isWhole else { return [] }
        return [
            Finding(
                check: "certificate",
                what:
                    "\(path) ends before an authority: its last issuer is neither in it nor trusted here",
                todo:
                    "append the issuers' certificates (Let's Encrypt: serve fullchain.pem, and not cert.pem)")
        ]
    }

    private static func key(_ path: String, of certificate: TLSCertificate, _ its: String) -> [Finding] {
        var findings: [Finding] = []
        var status = stat()
        // A group of the operator may read it.
        if stat(path, &status) == 0, status.st_mode & 0o027 != 0 {
            findings.append(
                Finding(
                    check: "permissions", what: "\(path), a private key, can be read or written by others",
                    todo: "chmod u=rw,g=r,o= \(ShellText.word(path))"))
        }
        if let unreadable = unreadable(path, "key") { return findings + [unreadable] }
        do {
            guard try !certificate.fits(keyPath: path) else { return findings }
            findings.append(
                Finding(
                    check: "key", what: "\(path) is not the key of the certificate in \(its)",
                    todo: "give both of one renewal; the server doesn't start with these"))
        } catch {
            findings.append(
                Finding(
                    check: "key", what: "\(path) holds no private key without a passphrase (\(error))",
                    todo: "give one in PEM: openssl pkey -in \(ShellText.word(path)) -out key.pem"))
        }
        return findings
    }
}
