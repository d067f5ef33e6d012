import CCurl
import Foundation

/// One request from the inbox to its completion, and its libcurl options.
final class CurlTransfer: @unchecked Sendable {
    // Sendable because it is created by the sender and passed through the inbox's lock. Then only the loop's thread
    // uses it.

    /// Set under the inbox's lock.
    var id: UInt64 = 0
    /// Deadline of the whole request, or nil.
    let deadlineMilliseconds: Int64?
    /// Maximum time without any transfer, or nil for no limit.
    private let silenceMilliseconds: Int64?
    /// Time of the last transfer.
    private var quietSinceMilliseconds: Int64
    /// True if bytes were received, or read for sending, since the last check.
    private var hasMoved = false
    /// Bytes acknowledged by the server at the last check.
    private var arrivedBytes: curl_off_t = 0

    private let request: HTTPClientRequest
    private var completion: CurlLoop.Completion?
    private var handle: UnsafeMutableRawPointer?
    private var headerList: UnsafeMutablePointer<curl_slist>?
    private var errorText: UnsafeMutablePointer<CChar>?

    private var hasBegun = false
    private var response = HTTPClientResponse(status: 0)
    private var headerBytes = 0
    /// True if the end of the headers has arrived. libcurl takes an earlier end for the end of the response.
    private var haveHeadersEnded = false
    private var headerBytesMax = 0
    private var bodyBytes = 0
    /// True if the body is written to the request's `download`. Nil before it has begun.
    private var isDownload: Bool?
    /// Maximum bytes kept of an error response to a file download.
    private static let refusalBytesMax = 64 << 10
    /// The error for which a callback ended the transfer.
    private var failure: HTTPClientError?

    init(
        _ request: HTTPClientRequest, startedMilliseconds: Int64, completion: @escaping CurlLoop.Completion
    ) {
        self.request = request
        self.completion = completion
        deadlineMilliseconds =
            request.timeoutSeconds > 0
            ? startedMilliseconds + Int64(milliseconds(request.timeoutSeconds)) : nil
        silenceMilliseconds =
            request.silenceSeconds > 0 ? Int64(milliseconds(request.silenceSeconds)) : nil
        quietSinceMilliseconds = startedMilliseconds
    }

    // MARK: Silence

    /// Time of the next check for progress, or nil for never.
    var silenceEndsMilliseconds: Int64? { silenceMilliseconds.map { quietSinceMilliseconds + $0 } }

    /// Time at which a pending request has to be ended, or nil for never.
    var waitEndsMilliseconds: Int64? {
        [deadlineMilliseconds, silenceEndsMilliseconds].compactMap { $0 }.min()
    }

    /// Returns true if nothing was transferred for too long.
    func isSilent(nowMilliseconds: Int64) -> Bool {
        if hasMoved {
            hasMoved = false
            quietSinceMilliseconds = nowMilliseconds
        }
        guard let end = silenceEndsMilliseconds, end <= nowMilliseconds, let handle else { return false }
        // A body is sent after the system has taken it, and one in memory without a callback here.
        let bytes = yap_curl_arrived_bytes(handle)
        guard bytes == arrivedBytes else {
            arrivedBytes = bytes
            quietSinceMilliseconds = nowMilliseconds
            return false
        }
        return true
    }

    func complete(_ result: Result<HTTPClientResponse, HTTPClientError>) {
        let completion = completion
        self.completion = nil
        precondition(completion != nil, "a request ends once")
        completion?(result)
    }

    /// Removes the handle from `multi` and frees it, then the memory that it refers to.
    func close(in multi: UnsafeMutableRawPointer?) {
        guard let handle else { return }
        curl_multi_remove_handle(multi, handle)
        curl_easy_cleanup(handle)
        self.handle = nil
        curl_slist_free_all(headerList)
        headerList = nil
        errorText?.deallocate()
        errorText = nil
    }

    // MARK: Setting libcurl's options

    func prepare(_ handle: UnsafeMutableRawPointer, options: HTTPClientOptions, nowMilliseconds: Int64) {
        self.handle = handle
        quietSinceMilliseconds = nowMilliseconds
        headerBytesMax = options.responseHeaderBytesMax
        let context = Unmanaged.passUnretained(self).toOpaque()
        yap_curl_set_pointer(handle, CURLOPT_PRIVATE, context)
        yap_curl_set_text(handle, CURLOPT_URL, request.url)
        setRules(handle, options)
        let connectMilliseconds = milliseconds(request.connectTimeoutSeconds)
        if connectMilliseconds > 0 {
            yap_curl_set_long(handle, CURLOPT_CONNECTTIMEOUT_MS, connectMilliseconds)
        }
        if let deadlineMilliseconds {
            yap_curl_set_long(
                handle, CURLOPT_TIMEOUT_MS, max(1, Int(deadlineMilliseconds - nowMilliseconds)))
        }
        yap_curl_set_offset(handle, CURLOPT_MAXFILESIZE_LARGE, curl_off_t(request.responseBytesMax))
        setBody(handle, context)
        setHeaders(handle)
        yap_curl_set_function(handle, CURLOPT_HEADERFUNCTION) {
            CurlTransfer.from($3)?.takeHeader($0, $1 * $2) ?? 0
        }
        yap_curl_set_pointer(handle, CURLOPT_HEADERDATA, context)
        yap_curl_set_function(handle, CURLOPT_WRITEFUNCTION) {
            CurlTransfer.from($3)?.takeBody($0, $1 * $2) ?? 0
        }
        yap_curl_set_pointer(handle, CURLOPT_WRITEDATA, context)
        let text = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
        text.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        yap_curl_set_pointer(handle, CURLOPT_ERRORBUFFER, text)
        errorText = text
    }

    private func setRules(_ handle: UnsafeMutableRawPointer, _ options: HTTPClientOptions) {
        yap_curl_set_long(handle, CURLOPT_NOSIGNAL, 1)
        yap_curl_set_text(handle, CURLOPT_PROTOCOLS_STR, "http,https")
        yap_curl_set_long(handle, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        yap_curl_set_long(handle, CURLOPT_FOLLOWLOCATION, 0)
        // An empty name means no proxy, regardless of the environment.
        yap_curl_set_text(handle, CURLOPT_PROXY, "")
        yap_curl_set_long(handle, CURLOPT_PATH_AS_IS, 1)
        yap_curl_set_long(handle, CURLOPT_TCP_KEEPALIVE, 1)
        yap_curl_set_long(handle, CURLOPT_MAXAGE_CONN, options.idleSecondsMax)
        yap_curl_set_long(handle, CURLOPT_SSL_VERIFYPEER, 1)
        yap_curl_set_long(handle, CURLOPT_SSL_VERIFYHOST, 2)
        yap_curl_set_long(handle, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        if let file = options.authoritiesFile { yap_curl_set_text(handle, CURLOPT_CAINFO, file) }
    }

    private func setBody(_ handle: UnsafeMutableRawPointer, _ context: UnsafeMutableRawPointer) {
        let byteCount = request.upload?.byteCount ?? request.body.count
        switch request.method {
        case "GET" where byteCount == 0: yap_curl_set_long(handle, CURLOPT_HTTPGET, 1)
        case "HEAD": yap_curl_set_long(handle, CURLOPT_NOBODY, 1)
        case let method:
            yap_curl_set_long(handle, CURLOPT_POST, 1)
            if method != "POST" { yap_curl_set_text(handle, CURLOPT_CUSTOMREQUEST, method) }
            yap_curl_set_offset(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(byteCount))
            if request.upload == nil {
                // In memory the body is sent with the headers in one piece.
                _ = request.body.withUnsafeBytes {
                    yap_curl_set_pointer(
                        handle, CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: $0.baseAddress))
                }
            } else {
                yap_curl_set_function(handle, CURLOPT_READFUNCTION) {
                    CurlTransfer.from($3)?.giveBody($0, $1 * $2) ?? Int(CURL_READFUNC_ABORT)
                }
                yap_curl_set_pointer(handle, CURLOPT_READDATA, context)
            }
            // libcurl repeats a request on a new connection when a kept one ends without a response, and the request
            // might then be executed twice.
            yap_curl_set_begin(handle) { context, _, _, _, _ in
                CurlTransfer.from(context)?.begin() ?? CURL_PREREQFUNC_ABORT
            }
            yap_curl_set_pointer(handle, CURLOPT_PREREQDATA, context)
        }
    }

    private func setHeaders(_ handle: UnsafeMutableRawPointer) {
        // A name without a value removes libcurl's own header: it would wait for a 100, and mark every body as a
        // form.
        var list = curl_slist_append(nil, "Expect:")
        if !request.headers.contains(where: { $0.name.lowercased() == "content-type" }) {
            list = curl_slist_append(list, "Content-Type:")
        }
        for (name, value) in request.headers {
            list = curl_slist_append(list, value.isEmpty ? "\(name);" : "\(name): \(value)")
        }
        yap_curl_set_list(handle, CURLOPT_HTTPHEADER, list)
        headerList = list
    }

    // MARK: Callbacks of libcurl

    private static func from(_ context: UnsafeMutableRawPointer?) -> CurlTransfer? {
        context.map { Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Called each time before the request is sent.
    private func begin() -> Int32 {
        guard hasBegun else {
            hasBegun = true
            return CURL_PREREQFUNC_OK
        }
        failure = HTTPClientError(.noAnswer, "The kept connection ended without a response.")
        return CURL_PREREQFUNC_ABORT
    }

    private func giveBody(_ bytes: UnsafeMutablePointer<CChar>?, _ capacity: Int) -> Int {
        hasMoved = true
        let buffer = UnsafeMutableRawBufferPointer(start: bytes, count: capacity)
        do {
            return try request.upload?.read(into: buffer) ?? 0
        } catch {
            failure = HTTPClientError(.bodyFailed, "The request's body couldn't be read: \(error)")
            return Int(CURL_READFUNC_ABORT)
        }
    }

    private func takeHeader(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        hasMoved = true
        headerBytes += count
        guard headerBytes <= headerBytesMax else {
            failure = HTTPClientError(
                .responseTooLarge, "The response's headers have more than \(headerBytesMax) bytes.")
            return 0
        }
        let line = UnsafeBufferPointer(
            start: UnsafeRawPointer(bytes)?.assumingMemoryBound(to: UInt8.self), count: count)
        if line.starts(with: "HTTP/1.".utf8) {
            // A response with status 100 precedes the actual response.
            response.headers = []
            haveHeadersEnded = false
        } else if line.starts(with: "HTTP/".utf8) {
            failure = HTTPClientError(.invalidResponse, "The response isn't HTTP/1.1.")
            return 0
        } else if line.first == UInt8(ascii: "\r") || line.first == UInt8(ascii: "\n") {
            haveHeadersEnded = true
        } else if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
            var value = line[(colon + 1)...]
            while let byte = value.first, byte <= 0x20 { value.removeFirst() }
            while let byte = value.last, byte <= 0x20 { value.removeLast() }
            response.headers.append((Self.text(line[..<colon]), Self.text(value)))
        }
        return count
    }

    private static func text(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> String {
        String(decoding: UnsafeBufferPointer(rebasing: bytes), as: UTF8.self)
    }

    private func takeBody(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        hasMoved = true
        bodyBytes += count
        guard bodyBytes <= request.responseBytesMax else {
            failure = tooLarge
            return 0
        }
        let buffer = UnsafeRawBufferPointer(start: bytes, count: count)
        guard let download = request.download else {
            response.body.append(contentsOf: buffer)
            return count
        }
        do {
            if try isDownload ?? begins(download) {
                try download.write(buffer)
            } else if response.body.count + count <= Self.refusalBytesMax {
                response.body.append(contentsOf: buffer)
            }
            return count
        } catch {
            failure = HTTPClientError(.bodyFailed, "The response's body couldn't be stored: \(error)")
            return 0
        }
    }

    /// Returns true if the response is a success, whose body is the file.
    private func begins(_ download: any HTTPDownload) throws -> Bool {
        let status = status()
        let isSuccess = (200..<300).contains(status)
        isDownload = isSuccess
        if isSuccess { try download.begin(status: status, headers: response.headers) }
        return isSuccess
    }

    private func status() -> Int {
        var status = 0
        if let handle { yap_curl_get_long(handle, CURLINFO_RESPONSE_CODE, &status) }
        return status
    }

    private var tooLarge: HTTPClientError {
        HTTPClientError(.responseTooLarge, "The response has more than \(request.responseBytesMax) bytes.")
    }

    /// The error of a request that ended because nothing was transferred for too long.
    var silence: HTTPClientError {
        let words = "Nothing was received or sent for \(request.silenceSeconds) seconds"
        guard headerBytes > 0 else {
            return HTTPClientError(isConnected ? .timedOut : .couldNotConnect, words)
        }
        return HTTPClientError(.timedOut, "\(words), within the response")
    }

    private var isConnected: Bool {
        var microseconds: curl_off_t = 0
        if let handle { yap_curl_get_offset(handle, CURLINFO_PRETRANSFER_TIME_T, &microseconds) }
        return microseconds > 0
    }

    // MARK: The end

    func result(_ code: CURLcode) -> Result<HTTPClientResponse, HTTPClientError> {
        if let failure { return .failure(failure) }
        guard handle != nil, code == CURLE_OK else { return .failure(error(code)) }
        guard haveHeadersEnded else {
            return .failure(HTTPClientError(.cutShort, "The connection ended within the response's headers."))
        }
        response.status = status()
        if request.url.hasPrefix("http://"), response.asksForTLS {
            return .failure(
                HTTPClientError(.needsTLS, "The port responded to plain HTTP with \(response.status)."))
        }
        return .success(response)
    }

    private func error(_ code: CURLcode) -> HTTPClientError {
        if code == CURLE_FILESIZE_EXCEEDED { return tooLarge }
        var verified = 0
        if let handle { yap_curl_get_long(handle, CURLINFO_SSL_VERIFYRESULT, &verified) }
        return HTTPClientError(
            code, detail: errorText.map { String(cString: $0) } ?? "", verified: verified,
            connected: isConnected, answered: headerBytes > 0)
    }
}

/// Returns whole milliseconds, at least 1 for a positive time, as libcurl expects.
private func milliseconds(_ seconds: Double) -> Int {
    guard seconds > 0 else { return 0 }
    return max(1, Int(min(seconds, 1e9) * 1000))
}
