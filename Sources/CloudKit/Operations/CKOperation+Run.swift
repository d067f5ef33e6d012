internal import CloudWire
import Foundation
internal import System

extension CKOperation {
    /// Walks an exchange from its first request to its end.
    /// - Parameters:
    ///   - exchange: makes it; gets the database's address, which is known only now.
    ///   - event: called for each event, in order.
    ///   - progress: called between them while files are on their way.
    ///   - completion: called once, after the last event; the operation ends when it returns.
    final func run<E: Exchange>(
        _ exchange: @escaping @Sendable (RequestAddress) -> E,
        event: @escaping @Sendable (E.Event) -> Void,
        progress: @escaping @Sendable (FileProgress) -> Void = { _ in },
        completion: @escaping @Sendable (Result<E.Output, CKError>) -> Void
    ) {
        let end: @Sendable (Result<E.Output, CKError>, KeptRun?) -> Void = { result, kept in
            kept?.isEnding()
            completion(result)
            self.finish()
            kept?.end()
        }
        let target = target
        let place: CloudPlace
        let credential: CloudCredential
        do throws(CKError) {
            place = try target.core.place()
            credential = try place.connection.account.credential()
        } catch {
            return end(.failure(error), nil)
        }
        let started = place.connection.timers.elapsedMilliseconds()
        var rules = effectiveConfiguration.rules(startedMilliseconds: started)
        rules.userRecordName = userRecordName ?? credential.userRecordName
        keep(place, credential, target.databaseScope) { [rules] kept in
            if let error = kept.error { return end(.failure(error.naming(container: place.identifier)), nil) }
            let kept = kept.value ?? nil
            let runner = ExchangeRunner(
                exchange(
                    RequestAddress(place, target.databaseScope, credential, kept, writeSeeds: self.writeSeeds)
                ),
                connection: place.connection, rules: rules, kept: kept, isCancelled: { self.isCancelled },
                deliver: { self.deliver($0) }, event: event, progress: progress,
                completion: { end($0.mapError { $0.naming(container: place.identifier) }, kept) })
            self.onCancel { runner.cancel() }
            if kept != nil { self.longLivedOperationWasPersistedBlock?() }
            runner.advance()
        }
    }
}

extension RequestAddress {
    /// Where an operation goes, and what it goes by. One that was kept asks the database that it asked at first.
    fileprivate init(
        _ place: CloudPlace, _ scope: CKDatabase.Scope, _ credential: CloudCredential,
        _ kept: KeptRun?, writeSeeds: [CKRecordZoneID: WriteSeed]
    ) {
        let connection = place.connection
        let scope = kept.flatMap { CKDatabase.Scope(rawValue: $0.header.scope) } ?? scope
        self.init(
            containerIdentifier: place.identifier, environment: connection.environment, scope: scope.wire,
            isSignedIn: credential.isSignedIn, userRecordName: credential.userRecordName,
            names: WriteNames(
                random: connection.random, seed: kept.map { WriteSeed(series: nil, seed: $0.header.seed) },
                zoneSeeds: kept == nil ? writeSeeds : [:]),
            assetCache: connection.assetCache, serverKind: connection.serverKind, clock: connection.clock)
        if let kept { fileCopy = { kept.copy(of: $0) } }
    }
}

extension CKOperationConfiguration {
    /// What the configuration says of each request of an operation that starts now.
    fileprivate func rules(startedMilliseconds: Int64) -> RequestRules {
        RequestRules(
            timeoutSeconds: timeoutIntervalForRequest,
            deadlineMilliseconds: secondsForAll.map { seconds in
                startedMilliseconds + Int64(max(0, min(seconds, 1e9)) * 1000)
            },
            repeatsAfterNetworkErrors: [.utility, .background].contains(qualityOfService))
    }
}
