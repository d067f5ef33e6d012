import CBenchmarks
import Foundation

/// Requests in memory that C can read, for as long as this lives.
final class LoadRequests: @unchecked Sendable {
    // Sendable because nothing changes after init.
    let requests: [load_request]
    private let storage: UnsafeMutableRawBufferPointer

    /// Takes whole requests, and the length that each one's answer must have where that is known.
    init(_ all: [[UInt8]], answerLengths: [Int] = []) {
        storage = .allocate(byteCount: max(1, all.reduce(0) { $0 + $1.count }), alignment: 1)
        var requests: [load_request] = []
        var offset = 0
        for (index, bytes) in all.enumerated() {
            let target = UnsafeMutableRawBufferPointer(rebasing: storage[offset..<offset + bytes.count])
            target.copyBytes(from: bytes)
            requests.append(
                load_request(
                    bytes: UnsafeRawPointer(storage.baseAddress)?.advanced(by: offset)
                        .assumingMemoryBound(to: CChar.self),
                    length: bytes.count,
                    answer_length: index < answerLengths.count ? Int64(answerLengths[index]) : -1))
            offset += bytes.count
        }
        self.requests = requests
    }

    deinit {
        storage.deallocate()
    }
}

/// What one run of the load generator came to.
struct LoadResult {
    var seconds: Double
    var bodyBytes: Int64
}

/// The load generator: one thread that keeps `connections` busy.
enum Load {
    /// Sends requests until `total` answers have come, each of which must be a 200.
    ///
    /// - Parameter range: which of the requests are sent; again from its start at its end.
    static func run(
        _ requests: LoadRequests, _ range: Range<Int>? = nil, port: Int, connections: Int, total: Int,
        forbidding forbidden: String? = nil
    ) throws -> LoadResult {
        var result = load_result()
        let sent = requests.requests[range ?? requests.requests.indices]
        let code = sent.withUnsafeBufferPointer { sent in
            withOptionalCString(forbidden) { forbidden in
                var plan = load_plan(
                    port: Int32(port), connections: Int32(connections), requests: sent.baseAddress,
                    requests_count: sent.count, total: total, forbidden: forbidden, latencies: nil,
                    answered: nil, context: nil)
                return load_run(&plan, &result)
            }
        }
        guard code == 0 else { throw BenchError(text(&result.failure)) }
        return LoadResult(seconds: result.seconds, bodyBytes: result.body_bytes)
    }

    /// Sends each request once, and returns the bodies of the answers, which must be 200s.
    static func bodies(of requests: LoadRequests, port: Int, connections: Int) throws -> [[UInt8]] {
        var bodies = [[UInt8]](repeating: [], count: requests.requests.count)
        var result = load_result()
        let code = withUnsafeMutablePointer(to: &bodies) { bodies in
            requests.requests.withUnsafeBufferPointer { sent in
                var plan = load_plan(
                    port: Int32(port), connections: Int32(connections), requests: sent.baseAddress,
                    requests_count: sent.count, total: sent.count, forbidden: nil, latencies: nil,
                    answered: { context, number, body, length in
                        let bodies = context?.assumingMemoryBound(to: [[UInt8]].self)
                        bodies?.pointee[number] = [UInt8](UnsafeRawBufferPointer(start: body, count: length))
                    }, context: bodies)
                return load_run(&plan, &result)
            }
        }
        guard code == 0 else { throw BenchError(text(&result.failure)) }
        return bodies
    }

    /// Sends each request once on one connection, one after the other, and returns how long each took, in seconds,
    /// shortest first.
    static func latencies(of requests: LoadRequests, port: Int) throws -> [Double] {
        var latencies = [UInt32](repeating: 0, count: requests.requests.count)
        var result = load_result()
        let code = latencies.withUnsafeMutableBufferPointer { latencies in
            requests.requests.withUnsafeBufferPointer { sent in
                var plan = load_plan(
                    port: Int32(port), connections: 1, requests: sent.baseAddress, requests_count: sent.count,
                    total: sent.count, forbidden: nil, latencies: latencies.baseAddress, answered: nil,
                    context: nil)
                return load_run(&plan, &result)
            }
        }
        guard code == 0 else { throw BenchError(text(&result.failure)) }
        return latencies.sorted().map { Double($0) / 1_000_000_000 }
    }

    /// Sends one request, and returns the body of its answer, which must be a 200.
    static func exchange(_ request: [UInt8], port: Int) throws -> [UInt8] {
        var body: UnsafeMutablePointer<CChar>?
        var length = 0
        let status = request.withUnsafeBytes {
            load_exchange(
                Int32(port), $0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count, &body, &length)
        }
        defer { free(body) }
        let bytes = [UInt8](UnsafeRawBufferPointer(start: body, count: length))
        guard status == 200 else {
            throw BenchError("status \(status): \(String(decoding: bytes.prefix(300), as: UTF8.self))")
        }
        return bytes
    }

    private static func withOptionalCString<Result>(
        _ text: String?, _ body: (UnsafePointer<CChar>?) -> Result
    ) -> Result {
        guard let text else { return body(nil) }
        return text.withCString(body)
    }
}

/// The text in one of C's arrays of characters.
func text<Characters>(_ characters: inout Characters) -> String {
    withUnsafeBytes(of: &characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
}
