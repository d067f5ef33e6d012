import Glibc

/// A socket or the end of a pipe, closed with its last owner.
final class Descriptor: Sendable {
    let number: Int32

    init(_ number: Int32) {
        self.number = number
    }

    deinit {
        // The peer of a socket sees its end also when a child that was just started has inherited it.
        shutdown(number, Int32(SHUT_RDWR))
        close(number)
    }
}

/// Something that one thread says once and any number of threads can poll for.
final class Signal: Sendable {
    let descriptor: Descriptor
    private let writeEnd: Descriptor

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw ProxyError.system("pipe", errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        descriptor = Descriptor(ends[0])
        writeEnd = Descriptor(ends[1])
    }

    /// Never read, so it stays raised.
    func raise() {
        _ = write(writeEnd.number, [0], 1)
    }
}

/// Why the proxy could not start, or why a connection ended.
package enum ProxyError: Error {
    case system(String, Int32)
    /// The peer closed in the middle of a message.
    case closed
    /// The other side of the exchange went away.
    case otherSideGone
    /// The proxy was told to stop, or to cut its connections.
    case stopped
    /// What came is no HTTP/1.1 message that the proxy can frame.
    case notHTTP(String)
}

enum Sockets {
    static func listener(port: Int) throws -> Descriptor {
        let descriptor = try make()
        var on: Int32 = 1
        setsockopt(descriptor.number, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        var address = loopback(port: port)
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor.number, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else { throw ProxyError.system("bind", errno) }
        guard listen(descriptor.number, 512) == 0 else { throw ProxyError.system("listen", errno) }
        return descriptor
    }

    static func port(of descriptor: Descriptor) throws -> Int {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getsockname(descriptor.number, $0, &length)
            }
        }
        guard code == 0 else { throw ProxyError.system("getsockname", errno) }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// A connection to a port of this machine; loopback answers at once, so this does not wait.
    static func connection(port: Int) throws -> Descriptor {
        let descriptor = try make()
        var address = loopback(port: port)
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor.number, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else { throw ProxyError.system("connect", errno) }
        noDelay(descriptor)
        return descriptor
    }

    static func accepted(from listener: Descriptor) -> Descriptor? {
        let number = accept(listener.number, nil, nil)
        guard number >= 0 else { return nil }
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        let descriptor = Descriptor(number)
        noDelay(descriptor)
        return descriptor
    }

    private static func make() throws -> Descriptor {
        let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { throw ProxyError.system("socket", errno) }
        return Descriptor(number)
    }

    private static func noDelay(_ descriptor: Descriptor) {
        var on: Int32 = 1
        setsockopt(
            descriptor.number, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    private static func loopback(port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(truncatingIfNeeded: port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return address
    }
}
