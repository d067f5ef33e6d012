import Dispatch
import System

/// Deletes the files of deleted edges, after the commit that noted them.
///
/// A transaction only notes a file in a table. If it fails, nothing is deleted; if the process ends after the commit,
/// the note still exists at the next registration. `didCommit` is called while the writer is held, and a disk may
/// take long to delete a file, so the deletion is a job on one of the reading threads. There it runs outside any
/// transaction, and closing the database discards it. A write on the writer's thread then removes the notes.
///
/// A file that can't be deleted keeps its note until the next registration, because retrying at each commit would
/// repeatedly call a failing disk. After 10 registrations it is given up, and so is the oldest of more than 10,000.
final class RelationshipFiles: Sendable {
    private struct State {
        weak var database: YapDatabase?
        var registeredName = ""
        var isScheduled = false
        /// Number of the last handled note. Notes have ascending numbers, which are never reused.
        var lastID: Int64 = 0
    }

    /// Maximum files of one write that removes the notes.
    private static let batchMax = 100
    /// Maximum attempts to delete a file, and maximum failed files kept.
    static let attemptsMax = 10
    static let triedMax = 10_000

    private let deletion: YapDatabaseFileDeletion
    private let state = Lock(State())
    /// Deletes one file at a time.
    private let jobs = SerialJobs()
    /// Jobs that have begun and not ended, for tests.
    let work = DispatchGroup()

    init(_ deletion: YapDatabaseFileDeletion) { self.deletion = deletion }

    /// Starts with all noted files.
    func begin(_ registeredName: String, in database: YapDatabase) {
        state.withLock {
            $0.database = database
            $0.registeredName = registeredName
            $0.lastID = 0
        }
        schedule()
    }

    /// Schedules the deletion of files noted since. Returns at once.
    func schedule() {
        let database = state.withLock { state -> YapDatabase? in
            guard !state.isScheduled, let database = state.database else { return nil }
            state.isScheduled = true
            return database
        }
        guard let database else { return }
        work.enter()
        database.shell.read(jobs) {
            self.run()
            self.work.leave()
        }
    }

    private func run() {
        let (database, name, lastID) = state.withLock { state in
            state.isScheduled = false
            return (state.database, state.registeredName, state.lastID)
        }
        guard let database else { return }
        let notes = try? database.newConnection().blocking.read { transaction in
            try transaction.ext(name, as: YapDatabaseRelationship.self).files(
                after: lastID, max: Self.batchMax)
        }
        guard let notes, let last = notes.last else { return }
        // A file that can't be deleted is tried again at the next registration.
        var (deleted, failed) = ([Int64](), [Int64]())
        for note in notes {
            if (try? deletion.delete(note.file)) != nil {
                deleted.append(note.id)
            } else {
                failed.append(note.id)
            }
        }
        state.withLock { state in
            // A registration meanwhile starts with all files.
            if state.lastID == lastID { state.lastID = last.id }
        }
        finish(deleted, failed, name, database)
        schedule()
    }

    private func finish(_ deleted: [Int64], _ failed: [Int64], _ name: String, _ database: YapDatabase) {
        work.enter()
        let request = ExclusiveRequest { core in
            try core.alone { transaction in
                let part = try transaction.ext(name, as: YapDatabaseRelationship.self)
                try part.writer?.finishFiles(deleted: deleted, failed: failed)
            }
        } answer: { [work] _ in
            // If no thread is available, the files are deleted again later.
            work.leave()
        }
        database.shell.write(request, database.writer)
    }
}
