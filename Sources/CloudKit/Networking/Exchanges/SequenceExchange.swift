internal import CloudWire

/// Runs exchanges one after another, for data that needs several requests.
struct SequenceExchange<Base: OperationExchange>: OperationExchange where Base.Output == Void {
    private var rest: [Base]

    init(_ exchanges: [Base]) {
        rest = exchanges
    }

    mutating func nextStep() throws(CKError) -> ExchangeStep<Base.Event, Void> {
        while !rest.isEmpty {
            let step = try rest[0].nextStep()
            guard case .finished = step else { return step }
            rest.removeFirst()
        }
        return .finished(())
    }

    mutating func receive(_ reply: Result<WireResponse, CKError>) -> [Base.Event] {
        rest.isEmpty ? [] : rest[0].receive(reply)
    }
}

extension RequestAddress {
    /// Splits saves and deletions into exchanges of up to `itemsMax` items: one exchange if they fit.
    func split<Save, Deletion, E: OperationExchange>(
        saving saves: [Save], deleting deletions: [Deletion], _ exchange: ([Save], [Deletion]) -> E
    ) -> SequenceExchange<E> {
        guard saves.count + deletions.count > itemsMax else {
            return SequenceExchange([exchange(saves, deletions)])
        }
        return SequenceExchange(
            saves.chunks(countMax: itemsMax).map { exchange($0, []) }
                + deletions.chunks(countMax: itemsMax).map { exchange([], $0) })
    }

    /// Splits items to fetch into exchanges of up to `itemsMax` items; nil stands for all items.
    func split<Item, E: OperationExchange>(_ items: [Item]?, _ exchange: ([Item]?) -> E) -> SequenceExchange<
        E
    > {
        guard let items, items.count > itemsMax else { return SequenceExchange([exchange(items)]) }
        return SequenceExchange(items.chunks(countMax: itemsMax).map { exchange($0) })
    }
}
