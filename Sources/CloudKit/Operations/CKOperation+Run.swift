internal import CloudWire
import Foundation
internal import Seams

extension CKOperation {
    /// Walks `exchange` from its first request to its end.
    /// - Parameters:
    ///   - exchange: gets the database's address, which is known only now.
    ///   - event: called for each event, in order.
    ///   - completion: called once, after the last event; the operation ends when it returns.
    final func run<E: Exchange>(
        _ exchange: (RequestAddress) -> E, event: @escaping @Sendable (E.Event) -> Void,
        completion: @escaping @Sendable (Result<E.Output, CKError>) -> Void
    ) {
        let target = target
        let end: @Sendable (Result<E.Output, CKError>) -> Void = { result in
            completion(result)
            self.finish()
        }
        let place: ContainerCore.Place
        let credential: CloudCredential
        do throws(CKError) {
            place = try target.core.place()
            credential = try place.connection.account.credential()
        } catch {
            return end(.failure(error))
        }
        let address = RequestAddress(
            containerIdentifier: place.identifier, environment: place.connection.environment,
            scope: target.databaseScope.wire, isSignedIn: credential.isSignedIn,
            random: place.connection.random, assetCache: place.connection.assetCache,
            serverKind: place.connection.serverKind)
        let started = place.connection.timers.elapsedMilliseconds()
        var rules = effectiveConfiguration.rules(startedMilliseconds: started)
        rules.userRecordName = userRecordName ?? credential.userRecordName
        let runner = ExchangeRunner(
            exchange(address), connection: place.connection, rules: rules,
            isCancelled: { self.isCancelled }, deliver: { self.deliver($0) }, event: event
        ) { result in
            end(result.mapError { $0.naming(container: place.identifier) })
        }
        onCancel { runner.cancel() }
        runner.advance()
    }
}

extension CKOperationConfiguration {
    /// What the configuration says of each request of an operation that starts now.
    fileprivate func rules(startedMilliseconds: Int64) -> RequestRules {
        let wholeSeconds = max(0, min(timeoutIntervalForResource, 1e9))
        return RequestRules(
            timeoutSeconds: timeoutIntervalForRequest,
            deadlineMilliseconds: startedMilliseconds + Int64(wholeSeconds * 1000),
            repeatsAfterNetworkErrors: [.utility, .background].contains(qualityOfService))
    }
}
