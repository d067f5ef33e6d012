import System

/// Makes a failing run smaller as long as it fails in the same way: fewer devices, steps, faults, keys.
package struct Shrinker {
    private let demands: Set<Failure.Demand>
    private let endMilliseconds: Int64
    private let clock = SystemMonotonicSource()
    /// The smallest failing run so far.
    private var best: Plan
    /// How many runs were made.
    package private(set) var runsCount = 0

    private init(_ outcome: Outcome, seconds: Double) {
        demands = Set(outcome.failures.map(\.demand))
        best = outcome.plan
        endMilliseconds = clock.elapsedMilliseconds() + Int64(seconds * 1000)
    }

    /// The smallest run that was found within so many seconds.
    package static func shrink(
        _ outcome: Outcome, seconds: Double, sabotage: (() -> Sabotage)? = nil
    ) -> (plan: Plan, runsCount: Int) {
        var shrinker = Shrinker(outcome, seconds: seconds)
        shrinker.shrink(sabotage)
        var plan = shrinker.best
        plan.found = outcome.failures.first.map { "\($0)" }
        return (plan, shrinker.runsCount)
    }

    private var isTimeOver: Bool { clock.elapsedMilliseconds() >= endMilliseconds }

    private mutating func shrink(_ sabotage: (() -> Sabotage)?) {
        var size = Int.max
        while best.size < size, !isTimeOver {
            size = best.size
            for device in best.scenario.devices.indices.reversed() {
                attempt(best.without(device: device), sabotage)
            }
            remove(\.steps, sabotage)
            remove(\.faultsOrNone, sabotage)
            for index in best.steps.indices { simplify(index, sabotage) }
            let keys = (1..<max(2, best.scenario.keysCount)).reversed()
            for number in keys { attempt(best.renaming(number), sabotage) }
        }
    }

    /// Takes the smaller plan when it still fails.
    @discardableResult
    private mutating func attempt(_ plan: Plan, _ sabotage: (() -> Sabotage)?) -> Bool {
        guard !isTimeOver, plan.size < best.size else { return false }
        runsCount += 1
        guard let outcome = try? World.run(plan, sabotage: sabotage?()),
            outcome.failures.contains(where: { demands.contains($0.demand) })
        else { return false }
        best = plan
        return true
    }

    /// Leaves elements of a list out, first half of them at a time, at last one by one.
    private mutating func remove<Element>(
        _ list: WritableKeyPath<Plan, [Element]>, _ sabotage: (() -> Sabotage)?
    ) {
        var count = max(1, best[keyPath: list].count / 2)
        while true {
            var start = 0
            while start < best[keyPath: list].count, !isTimeOver {
                var plan = best
                let end = min(start + count, plan[keyPath: list].count)
                plan[keyPath: list].removeSubrange(start..<end)
                if !attempt(plan, sabotage) { start = end }
            }
            if count == 1 || isTimeOver { return }
            count /= 2
        }
    }

    /// Leaves edits of a commit out.
    private mutating func simplify(_ index: Int, _ sabotage: (() -> Sabotage)?) {
        guard index < best.steps.count, case .edit(let edits) = best.steps[index].action, edits.count > 1
        else { return }
        for edit in edits {
            var plan = best
            plan.steps[index].action = .edit([edit])
            if attempt(plan, sabotage) { return }
        }
    }
}

extension Plan {
    /// How much there is in it to be understood.
    fileprivate var size: Int {
        let edits = steps.reduce(0) { sum, step in
            if case .edit(let edits) = step.action { sum + edits.count } else { sum + 1 }
        }
        let keys = Set(
            steps.flatMap { step -> [String] in
                if case .edit(let edits) = step.action { edits.map(\.key) } else { [] }
            })
        return 10 * scenario.devices.count + 3 * edits + 2 * faultsOrNone.count + keys.count
    }

    fileprivate var faultsOrNone: [RequestFault] {
        get { faults ?? [] }
        set { faults = newValue }
    }

    /// Without a device; those behind it move up.
    fileprivate func without(device: Int) -> Plan {
        var plan = self
        guard scenario.devices.count > 1 else { return plan }
        plan.scenario.devices.remove(at: device)
        func moved(_ other: Int) -> Int { other > device ? other - 1 : other }
        plan.steps = steps.filter { $0.device != device }.map { step in
            var step = step
            step.device = step.device.map(moved)
            return step
        }
        plan.faults = faultsOrNone.filter { $0.name.device != device }.map { fault in
            var fault = fault
            fault.name.device = moved(fault.name.device)
            return fault
        }
        return plan
    }

    /// With the items of one number being those of the number 0.
    fileprivate func renaming(_ number: Int) -> Plan {
        var plan = self
        for index in plan.steps.indices {
            guard case .edit(let edits) = plan.steps[index].action else { continue }
            var seen: Set<String> = []
            let renamed = edits.map { edit in
                var edit = edit
                if edit.key.hasSuffix("\(number)") { edit.key = edit.key.dropLast() + "0" }
                return edit
            }
            plan.steps[index].action = .edit(renamed.filter { seen.insert($0.key).inserted })
        }
        return plan
    }
}
