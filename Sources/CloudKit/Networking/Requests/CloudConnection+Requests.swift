package import CloudWire
internal import System

extension CloudConnection {
    /// Sends a request with the current credential, and retries it according to `rules`.
    /// - Parameter completion: called once, on any thread, possibly before this function returns.
    /// - Returns: a closure that cancels the request. `completion` then gets `operationCancelled`, unless it
    ///   was called before.
    package func send(
        _ request: WireRequest, rules: RequestRules = RequestRules(),
        completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void
    ) -> TransportCancel {
        let connection = self
        let run = RequestRun(connection: self, rules: rules, kind: request.path, completion: completion) {
            let signed: WireRequest
            do throws(CKError) {
                signed = try request.signed($0, connection)
            } catch {
                $2(.failure(error))
                return {}
            }
            return connection.transport.send(signed, timeouts: $1, completion: $2)
        }
        run.attempt()
        return { run.cancel() }
    }

    /// Uploads or downloads a file, with retries as for `send`.
    /// - Parameters:
    ///   - progress: called on any thread, before `completion`, with the transferred fraction of the file. The fraction
    ///     only grows.
    ///   - completion: called once, on any thread, possibly before this function returns.
    /// - Returns: a closure that cancels the transfer.
    func carry(
        _ transfer: FileTransfer, rules: RequestRules, progress: @escaping @Sendable (Double) -> Void,
        completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void
    ) -> TransportCancel {
        let carrier = FileTransferRun(transfer, over: self, meter: ProgressMeter(progress))
        let run = RequestRun(connection: self, rules: rules, kind: nil, completion: completion) {
            carrier.attempt(timeouts: $1, completion: $2)
        }
        run.attempt()
        return { run.cancel() }
    }
}

extension WireRequest {
    /// Returns the request with the items of the user's tokens, or with the signature of a server's key. Apple's
    /// servers accept no token in a signed request.
    /// - Throws: `CKError.internalError` if the request can't be signed.
    fileprivate func signed(
        _ credential: CloudCredential, _ connection: CloudConnection
    ) throws(CKError) -> WireRequest {
        var signed = self
        if let key = credential.serverKey {
            signed.headers += try key.headers(
                target: connection.transport.basePath + target, body: body, clock: connection.clock)
            return signed
        }
        for (name, value) in [
            (WireHeader.apiTokenItem, credential.apiToken),
            (WireHeader.webAuthTokenItem, credential.webAuthToken),
            (WireHeader.clientIDItem, credential.deviceID),
        ] {
            if let value { signed.query.append((name, value)) }
        }
        return signed
    }
}
