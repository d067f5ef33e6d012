import CloudService
import CloudStore
import CloudWire
import System

/// Processes an account's data in the environments of all containers, one after the other. Environments
/// without data of the account aren't opened.
struct OperatorSweep: Sendable {
    /// The work in an environment with data of the account.
    enum Task: Sendable {
        /// Deletes the push tokens of its devices.
        case forgetDevices
        /// Deletes the contents of its private database too.
        case erase
    }

    typealias Completion = @Sendable (Result<Int64, WireError>) -> Void

    private let control: ControlStore
    private let folder: DataFolder
    private let table: EnvironmentTable
    private let queue: FairWorker

    /// - Parameter queue: a thread that may block on files.
    init(_ control: ControlStore, _ folder: DataFolder, _ table: EnvironmentTable, _ queue: FairWorker) {
        self.control = control
        self.folder = folder
        self.table = table
        self.queue = queue
    }

    /// Starts the work, on a thread that may block on files. `completion` receives the number of deleted
    /// records or the error that stopped it, on such a thread too.
    ///
    /// - Throws: `CloudStoreError`; then nothing is done.
    func run(_ task: Task, of account: ControlAccount, _ completion: @escaping Completion) throws {
        let environments = try control.containers.list().flatMap { container in
            ["development", "production"].map {
                CloudService.Container(identifier: container.identifier, environment: $0)
            }
        }
        next(task, account, environments[...], count: 0, completion)
    }

    /// Each environment is a separate job, so that other jobs can run in between.
    private func next(
        _ task: Task, _ account: ControlAccount, _ left: ArraySlice<CloudService.Container>, count: Int64,
        _ completion: @escaping Completion
    ) {
        let isTaken = queue.submitOwed {
            guard let container = left.first else { return completion(.success(count)) }
            do {
                let user = try control.accounts.userRecordName(of: account, container: container.identifier)
                guard hasTraces(of: user, in: container) else {
                    return next(task, account, left.dropFirst(), count: count, completion)
                }
                sweep(task, user, container) { result in
                    switch result {
                    case .success(let more):
                        next(task, account, left.dropFirst(), count: count + more, completion)
                    case .failure(let error): completion(.failure(error))
                    }
                }
            } catch {
                completion(.failure(Refusal.cannotUseControlFile))
            }
        }
        if !isTaken { completion(.failure(Refusal.stopping)) }
    }

    /// Returns true if a user has data in an environment, or its file can't be read.
    private func hasTraces(of user: String, in container: CloudService.Container) -> Bool {
        do {
            let path = try folder.storePath(
                container: container.identifier, environment: container.environment)
            guard let file = try StoreFile(path: path) else { return false }
            return try file.read { try AccountTraces.isAny(of: user, $0) }
        } catch {
            return true
        }
    }

    private func sweep(
        _ task: Task, _ user: String, _ container: CloudService.Container, _ completion: @escaping Completion
    ) {
        table.use(container) { [table] result in
            switch result {
            // An environment that is being removed needs no work.
            case .failure(let error) where error.serverErrorCode == .notFound: completion(.success(0))
            case .failure(let error): completion(.failure(error))
            case .success(let environment):
                let thread = environment.thread
                thread.forgetDevices(of: user, named: nil) { isDone in
                    guard isDone, task == .erase else {
                        table.release(environment)
                        return completion(isDone ? .success(0) : .failure(Refusal.busy))
                    }
                    AccountErasing.run(thread, container, user: user) { result in
                        table.release(environment)
                        completion(result)
                    }
                }
            }
        }
    }
}
