internal import CloudWire
internal import Crypto
import Foundation

/// The stored responses of an operation, in a file. After a crash, the operation continues after the last of them.
///
/// An entry is the length of its payload (32 bits), the first 8 bytes of the payload's SHA-256, and the payload: the
/// number of the request (32 bits), the status (16), 1 if the server is ours (8), the body. Numbers are little-endian.
/// Reading stops at the first incomplete entry.
struct ReplyLog: Sendable {
    private static let headBytes = 12
    private static let payloadHeadBytes = 7

    private let descriptor: Int32
    private let bytesMax: Int64
    /// Offset of the next entry to read or write.
    private var position: Int64 = 0
    private var isReplaying = true
    private var isFull = false

    /// Reads from the beginning of an open file, which the caller closes.
    init(descriptor: Int32, bytesMax: Int64) {
        self.descriptor = descriptor
        self.bytesMax = bytesMax
    }

    /// Returns the stored response to the request with this number. After the first missing response the rest is
    /// deleted, because another response may lead to other requests.
    mutating func reply(to number: Int) -> WireResponse? {
        guard isReplaying else { return nil }
        if let (found, reply, end) = entry(at: position), found == number {
            position = end
            return reply
        }
        isReplaying = false
        cutRest()
        return nil
    }

    /// Truncates the file after the entries that were read, and keeps its modification time.
    private func cutRest() {
        var status = stat()
        guard fstat(descriptor, &status) == 0, Int64(status.st_size) != position else { return }
        _ = ftruncate(descriptor, off_t(position))
        _ = [status.st_atim, status.st_mtim].withUnsafeBufferPointer { futimens(descriptor, $0.baseAddress) }
    }

    /// Returns all stored responses.
    func all() -> [Int: WireResponse] {
        var replies: [Int: WireResponse] = [:]
        var place: Int64 = 0
        while let (number, reply, end) = entry(at: place) {
            replies[number] = reply
            place = end
        }
        return replies
    }

    /// Stores a response. If the file is full, this one and all later ones will be requested again.
    mutating func append(_ reply: WireResponse, to number: Int) {
        guard !isReplaying, !isFull else { return }
        var payload = [UInt8]()
        payload.reserveCapacity(Self.payloadHeadBytes + reply.body.count)
        payload.appendNumber(UInt32(truncatingIfNeeded: number))
        payload.appendNumber(UInt16(truncatingIfNeeded: reply.status))
        payload.append(reply.header(WireHeader.protocolVersion) == nil ? 0 : 1)
        payload += reply.body
        var bytes = [UInt8]()
        bytes.appendNumber(UInt32(truncatingIfNeeded: payload.count))
        guard let hash = try? SHA256.hash(payload) else { return isFull = true }
        bytes += hash.prefix(8)
        bytes += payload
        guard position + Int64(bytes.count) <= bytesMax, write(bytes) else { return isFull = true }
        position += Int64(bytes.count)
    }

    private func write(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var count = 0
            while count < bytes.count {
                let put = pwrite(
                    descriptor, bytes.baseAddress.map { $0 + count }, bytes.count - count,
                    off_t(position) + off_t(count))
                if put < 0, errno == EINTR { continue }
                guard put > 0 else { return false }
                count += put
            }
            return true
        }
    }

    private func entry(at place: Int64) -> (number: Int, reply: WireResponse, end: Int64)? {
        guard let head = read(Self.headBytes, at: place) else { return nil }
        let count = head.prefix(4).number()
        guard count >= Self.payloadHeadBytes, Int64(count) <= bytesMax,
            let payload = read(count, at: place + Int64(Self.headBytes)),
            let hash = try? SHA256.hash(payload), hash.prefix(8).elementsEqual(head.dropFirst(4))
        else { return nil }
        var reply = WireResponse(
            status: payload[4..<6].number(), body: Array(payload.dropFirst(Self.payloadHeadBytes)))
        if payload[6] == 1 { reply.headers.append((WireHeader.protocolVersion, "1")) }
        return (payload.prefix(4).number(), reply, place + Int64(Self.headBytes + count))
    }

    private func read(_ count: Int, at place: Int64) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let got = bytes[done...].withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress, $0.count, off_t(place) + off_t(done))
            }
            if got < 0, errno == EINTR { continue }
            guard got > 0 else { return nil }
            done += got
        }
        return bytes
    }
}

extension [UInt8] {
    fileprivate mutating func appendNumber(_ value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
    }
}

extension Sequence<UInt8> {
    fileprivate func number() -> Int { Array(self).reversed().reduce(0) { $0 << 8 | Int($1) } }
}
