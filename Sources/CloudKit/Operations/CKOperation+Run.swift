internal import CloudWire
import Foundation
internal import System

extension CKOperation {
    /// Runs an exchange to its end.
    /// - Parameters:
    ///   - exchange: makes the exchange for the address of the database.
    ///   - event: called for each event, in order.
    ///   - progress: called between events during transfers of files.
    ///   - completion: called once, after the last event. The operation ends when it returns.
    final func run<E: OperationExchange>(
        _ exchange: @escaping @Sendable (RequestAddress) -> E,
        event: @escaping @Sendable (E.Event) -> Void,
        progress: @escaping @Sendable (FileProgress) -> Void = { _ in },
        completion: @escaping @Sendable (Result<E.Output, CKError>) -> Void
    ) {
        let end: @Sendable (Result<E.Output, CKError>, LongLivedRun?) -> Void = { result, kept in
            kept?.isEnding()
            completion(result)
            self.finish()
            kept?.end()
        }
        let target = target
        let resolved: ResolvedContainer
        let credential: CloudCredential
        do throws(CKError) {
            resolved = try target.core.resolved()
            credential = try resolved.connection.account.credential()
        } catch {
            return end(.failure(error), nil)
        }
        let started = resolved.connection.timers.elapsedMilliseconds()
        var rules = effectiveConfiguration.rules(startedMilliseconds: started)
        rules.userRecordName = userRecordName ?? credential.userRecordName
        keep(resolved, credential, target.databaseScope) { [rules] kept in
            if let error = kept.error {
                return end(.failure(error.naming(container: resolved.identifier)), nil)
            }
            let kept = kept.value ?? nil
            let runner = ExchangeRunner(
                exchange(
                    RequestAddress(
                        resolved, target.databaseScope, credential, kept, writeSeeds: self.writeSeeds)
                ),
                connection: resolved.connection, rules: rules, kept: kept, isCancelled: { self.isCancelled },
                deliver: { self.deliver($0) }, event: event, progress: progress,
                completion: { end($0.mapError { $0.naming(container: resolved.identifier) }, kept) })
            self.onCancel { runner.cancel() }
            if kept != nil { self.longLivedOperationWasPersistedBlock?() }
            runner.advance()
        }
    }
}

extension RequestAddress {
    /// The address and options of an operation's requests. A restored operation uses its original database.
    fileprivate init(
        _ resolved: ResolvedContainer, _ scope: CKDatabase.Scope, _ credential: CloudCredential,
        _ kept: LongLivedRun?, writeSeeds: [CKRecordZoneID: IdempotencySeed]
    ) {
        let connection = resolved.connection
        let scope = kept.flatMap { CKDatabase.Scope(rawValue: $0.header.scope) } ?? scope
        self.init(
            containerIdentifier: resolved.identifier, environment: connection.environment, scope: scope.wire,
            isSignedIn: credential.isSignedIn, userRecordName: credential.userRecordName,
            idempotencyKeys: IdempotencyKeys(
                random: connection.random,
                seed: kept.map { IdempotencySeed(series: nil, seed: $0.header.seed) },
                zoneSeeds: kept == nil ? writeSeeds : [:]),
            assetCache: connection.assetCache, serverKind: connection.serverKind, clock: connection.clock)
        if let kept { fileCopy = { kept.copy(of: $0) } }
    }
}

extension CKOperationConfiguration {
    /// Returns the rules for the requests of an operation that starts now.
    fileprivate func rules(startedMilliseconds: Int64) -> RequestRules {
        RequestRules(
            timeoutSeconds: timeoutIntervalForRequest,
            deadlineMilliseconds: secondsForAll.map { seconds in
                startedMilliseconds + Int64(max(0, min(seconds, 1e9)) * 1000)
            },
            repeatsAfterNetworkErrors: [.utility, .background].contains(qualityOfService))
    }
}
