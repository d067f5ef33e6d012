import Foundation
internal import Seams

/// What a container and its databases share. A database holds this and not its container: so neither keeps
/// the other alive, and a database works when only it was kept.
final class ContainerCore: Sendable {
    /// The container's identifier and where its cloud is.
    struct Place: Sendable {
        var identifier: String
        var connection: CloudConnection
    }

    private enum Origin {
        case given(Place)
        /// Looked up with the first operation: by the identifier, or as the program's own container.
        case configured(identifier: String?, CloudConfiguration?)
    }

    private let origin: Origin
    private let found = Lock<Place?>(nil)
    private let operationQueue = OperationQueue()
    private let callbackQueue = DispatchQueue(label: "CKContainer")
    /// Where what other devices change is heard of.
    let notifications = NotificationHub()

    init(identifier: String, connection: CloudConnection) {
        let place = Place(identifier: identifier, connection: connection)
        origin = .given(place)
        follow(place)
    }

    /// A container whose cloud `configuration` names; with nil, the one that counts when it is first needed.
    init(configuredIdentifier identifier: String?, configuration: CloudConfiguration? = nil) {
        origin = .configured(identifier: identifier, configuration)
    }

    var identifier: String? {
        switch origin {
        case .given(let place): place.identifier
        case .configured(let identifier?, _): identifier
        case .configured(nil, let configuration):
            found.withLock { $0 }?.identifier ?? (configuration ?? .current()).defaultContainer
        }
    }

    /// Where the cloud is.
    /// - Throws: `CKError.badContainer` that says what to write, and where. What is mended then is seen by the next
    ///   operation.
    func place() throws(CKError) -> Place {
        switch origin {
        case .given(let place): return place
        case .configured(let identifier, let configuration):
            return try found.withLock { found throws(CKError) in
                if let found { return found }
                let place = try (configuration ?? .current()).place(containerIdentifier: identifier)
                found = place
                follow(place)
                return place
            }
        }
    }

    /// Drops what belongs to a user when another one signs in.
    private func follow(_ place: Place) {
        let cache = place.connection.assetCache
        place.connection.account.onUserChange { [weak notifications] isOurs in
            // Another process removes them itself, and may have fetched the next user's already.
            if isOurs { cache?.removeAll() }
            notifications?.userChanged()
        }
    }

    var isInline: Bool {
        if case .given(let place) = origin, case .inline = place.connection.execution { true } else { false }
    }

    /// Runs what looks at files only and calls a completion handler: here, or on a serial queue.
    func perform(_ body: @escaping @Sendable () -> Void) {
        if isInline { body() } else { callbackQueue.async(execute: body) }
    }

    /// Runs `operation` here, or on a thread of its own as soon as it may.
    func start(_ operation: CKOperation) {
        guard isInline else {
            // Nothing to wait for: a queue would only hand it on from one thread to the next.
            if operation.dependencies.isEmpty, operation.isReady { return operation.start() }
            return operationQueue.addOperation(operation)
        }
        precondition(
            operation.dependencies.allSatisfy(\.isFinished),
            "with the inline executor the operations that this one depends on have to be added before it")
        operation.start()
    }
}
