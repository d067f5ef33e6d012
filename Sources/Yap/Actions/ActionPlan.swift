/// The work of a runner according to one snapshot.
struct ActionPlan: Sendable {
    /// Actions to start, in their order.
    var due: [YapDatabaseScheduledAction] = []
    /// Rowids of their objects.
    var rowIDs: [Int64] = []
    /// The first other action that isn't running.
    var next: YapDatabaseScheduledAction?
    /// Why `next` hasn't started.
    var obstacle: YapDatabaseActionStatus.Obstacle?
    /// Earliest date of an action that only waits for its date, in milliseconds since 1970.
    var wakeMilliseconds: Int64?
    /// Number of the snapshot.
    let snapshot: UInt64
}

/// Inputs of a plan besides the database.
struct ActionCircumstances: Sendable {
    /// Milliseconds since 1970.
    var milliseconds: Int64
    /// Number of actions that may be started.
    var freeCount: Int
    var running: [YapDatabaseActionID]
    var isReachable: Bool
    var isSuspended: Bool
}

extension YapDatabaseActionTransaction {
    /// Decides which actions to start. Reads one action more than those that may be started or are running.
    func plan(_ circumstances: ActionCircumstances) throws -> ActionPlan {
        let limit = circumstances.freeCount + circumstances.running.count + 1
        let running = Set(circumstances.running)
        let entries = try [0, 1].flatMap { try scheduled(sql.inOrderByNetwork, limit, .integer($0)) }
            .filter { !running.contains($0.action.id) }
            .sorted { ($0.startMilliseconds, $0.rowID) < ($1.startMilliseconds, $1.rowID) }
        var plan = ActionPlan(snapshot: transaction.snapshot)
        for entry in entries {
            let obstacle = circumstances.obstacle(entry, startedCount: plan.due.count)
            guard let obstacle else {
                plan.due.append(entry.action)
                plan.rowIDs.append(entry.rowID)
                continue
            }
            if plan.next == nil { (plan.next, plan.obstacle) = (entry.action, obstacle) }
            if obstacle == .date, plan.wakeMilliseconds == nil {
                plan.wakeMilliseconds = entry.startMilliseconds
            }
        }
        return plan
    }

    /// Starts the actions of a plan that are still due.
    func start(_ plan: ActionPlan, now: Int64) throws -> [ActionStart<Object>] {
        var starts: [ActionStart<Object>] = []
        for (action, rowID) in zip(plan.due, plan.rowIDs) {
            do {
                guard let started = try start(action.id, rowID: rowID, now: now) else { continue }
                starts.append(ActionStart(id: action.id, result: .success(started)))
            } catch let error as YapDatabaseError where error.code == .decoding {
                // An unreadable object doesn't block the other actions.
                starts.append(ActionStart(id: action.id, result: .failure(error)))
            }
        }
        return starts
    }
}

/// A started action, or the error of an unreadable object.
struct ActionStart<Object: Sendable>: Sendable {
    let id: YapDatabaseActionID
    let result: Result<YapDatabaseStartedAction<Object>, YapDatabaseError>
}

extension ActionCircumstances {
    /// Why an action isn't started, or nil if it is.
    fileprivate func obstacle<Object>(
        _ entry: YapDatabaseActionTransaction<Object>.Entry, startedCount: Int
    ) -> YapDatabaseActionStatus.Obstacle? {
        if isSuspended { return .suspended }
        if entry.startMilliseconds > milliseconds {
            return entry.action.requiresNetwork && !isReachable ? .network : .date
        }
        if entry.action.requiresNetwork, !isReachable { return .network }
        return startedCount < freeCount ? nil : .runningMax
    }
}
