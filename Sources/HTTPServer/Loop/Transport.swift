import CLinux
import Glibc

/// Result of a read or a write.
enum TransportResult {
    case bytes(Int)
    /// Nothing now. epoll reports when to retry.
    case blocked
    /// The other side has closed.
    case ended
    case failed
}

extension HTTPConnection {
    /// Reads once, through TLS if enabled.
    func receive(into buffer: UnsafeMutableBufferPointer<UInt8>) -> TransportResult {
        guard let tls else { return receiveRaw(into: buffer) }
        let result = tls.receive(into: buffer)
        if case .blocked = result { isReadable = false }
        return result
    }

    /// Reads from the socket once.
    func receiveRaw(into buffer: UnsafeMutableBufferPointer<UInt8>) -> TransportResult {
        let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
        if count > 0 {
            // A read that did not fill the buffer emptied the socket. epoll reports later bytes.
            if count < buffer.count, !sawEnd { isReadable = false }
            return .bytes(count)
        }
        if count == 0 { return .ended }
        if errno == EAGAIN || errno == EINTR {
            isReadable = errno == EINTR
            return .blocked
        }
        return .failed
    }

    /// Returns the number of bytes that the kernel has not delivered to the client.
    func unreadByteCount() -> Int {
        var count: Int32 = 0
        // SIOCOUTQ has this number on Linux, under the name of the terminals' call.
        return ioctl(descriptor, UInt(TIOCOUTQ), &count) == 0 ? Int(count) : 0
    }

    /// Writes output through TLS, in one record or a few.
    func send(through tls: TLSSession, _ buffer: UnsafeMutableBufferPointer<UInt8>) -> TransportResult {
        let count = output.copy(into: buffer)
        let result = tls.send(UnsafeBufferPointer(rebasing: buffer[..<count]))
        switch result {
        case .bytes(let sent): output.drop(sent)
        case .blocked: isWritable = false
        case .ended, .failed: break
        }
        return result
    }

    /// SIOCOUTQ has this value on Linux, under the name of the terminals' call.
    func send(_ vectors: UnsafeMutableBufferPointer<iovec>) -> TransportResult {
        var count = 0
        for piece in output.pieces.prefix(vectors.count) {
            let offset = count == 0 ? output.firstOffset : 0
            // The queue keeps the piece until after the call, and the bytes of an unchanged array don't move.
            piece.withUnsafeBytes { bytes in
                vectors[count].iov_base = UnsafeMutableRawPointer(
                    mutating: bytes.baseAddress?.advanced(by: offset))
                vectors[count].iov_len = bytes.count - offset
            }
            count += 1
        }
        var message = msghdr()
        message.msg_iov = vectors.baseAddress
        message.msg_iovlen = count
        let sent = sendmsg(descriptor, &message, Int32(MSG_NOSIGNAL))
        if sent >= 0 {
            output.drop(sent)
            return .bytes(sent)
        }
        if errno == EAGAIN || errno == EINTR {
            isWritable = errno == EINTR
            return .blocked
        }
        return .failed
    }
}
