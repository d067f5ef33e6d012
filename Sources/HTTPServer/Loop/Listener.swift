import CLinux
import Glibc

/// Opens the listening sockets of all event loops on one address.
enum Listener {
    private static let backlog: Int32 = 4096

    /// Returns the sockets and their port.
    static func open(host: String, port: Int, count: Int) throws -> (descriptors: [Int32], port: Int) {
        guard (0...65535).contains(port) else {
            throw HTTPServerError(code: .badHost, message: "port \(port) is not in 0...65535")
        }
        var descriptors = [Int32]()
        do {
            if port != 0 { try checkThatNobodyListens(host, port) }
            var port = port
            for _ in 0..<count {
                descriptors.append(try listen(host, port))
                if port == 0 { port = try boundPort(descriptors[0]) }
            }
            return (descriptors, port)
        } catch {
            for descriptor in descriptors { close(descriptor) }
            throw error
        }
    }

    /// Checks that no other server listens on the port. The event loops share it (`SO_REUSEPORT`), and so could another
    /// server of this user, unnoticed. Binding an unshared socket detects that server.
    private static func checkThatNobodyListens(_ host: String, _ port: Int) throws {
        close(try bound(host, port, shared: false))
    }

    private static func listen(_ host: String, _ port: Int) throws -> Int32 {
        let descriptor = try bound(host, port, shared: true)
        if Glibc.listen(descriptor, backlog) == 0 { return descriptor }
        defer { close(descriptor) }
        throw failure(host, port, errno)
    }

    private static func bound(_ host: String, _ port: Int, shared: Bool) throws -> Int32 {
        var hints = addrinfo()
        hints.ai_flags = AI_PASSIVE
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(port), &hints, &list) == 0, let address = list else {
            throw HTTPServerError(
                code: .badHost,
                message: "\(host) isn't an address of this machine; use 127.0.0.1 for local clients only")
        }
        defer { freeaddrinfo(list) }
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(address.pointee.ai_family, kind, 0)
        guard descriptor >= 0 else { throw HTTPServerError.system("socket", errno) }
        set(descriptor, SOL_SOCKET, SO_REUSEADDR)
        if shared { set(descriptor, SOL_SOCKET, SO_REUSEPORT) }
        // Accepted connections inherit this.
        set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY)
        if bind(descriptor, address.pointee.ai_addr, address.pointee.ai_addrlen) == 0 { return descriptor }
        let number = errno
        close(descriptor)
        throw failure(host, port, number)
    }

    private static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32) {
        var one: Int32 = 1
        setsockopt(descriptor, level, option, &one, socklen_t(MemoryLayout<Int32>.size))
    }

    private static func failure(_ host: String, _ port: Int, _ number: Int32) -> HTTPServerError {
        switch number {
        case EADDRINUSE:
            HTTPServerError(
                code: .portTaken,
                message: "port \(port) of \(host) is in use; stop the other server or use another port")
        case EACCES:
            HTTPServerError(
                code: .notPermitted,
                message: "this user may not listen on port \(port); use a port above 1023")
        case EADDRNOTAVAIL:
            HTTPServerError(
                code: .badHost,
                message: "\(host) isn't an address of this machine; use 127.0.0.1 for local clients only")
        default: HTTPServerError.system("bind to \(host):\(port)", number)
        }
    }

    private static func boundPort(_ descriptor: Int32) throws -> Int {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getsockname(descriptor, $0, &length)
            }
        }
        guard code == 0 else { throw HTTPServerError.system("getsockname", errno) }
        return withUnsafePointer(to: address) { pointer in
            // IPv4 and IPv6 have the port at the same offset.
            pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                Int(UInt16(bigEndian: $0.pointee.sin_port))
            }
        }
    }
}

/// Returns an address as text, without its port.
func text(of address: sockaddr_storage) -> String {
    var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    withUnsafePointer(to: address) { pointer in
        if Int32(address.ss_family) == AF_INET6 {
            pointer.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                var number = $0.pointee.sin6_addr
                _ = inet_ntop(AF_INET6, &number, &buffer, socklen_t(buffer.count))
            }
        } else {
            pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                var number = $0.pointee.sin_addr
                _ = inet_ntop(AF_INET, &number, &buffer, socklen_t(buffer.count))
            }
        }
    }
    return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
