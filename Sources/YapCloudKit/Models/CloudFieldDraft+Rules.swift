// Ready merge rules for fields in which the changes of both devices must count.

extension CloudFieldDraft {
    /// Merges a list of unique elements in any order, for example tags: keeps additions from both devices and applies
    /// removals from both.
    ///
    /// ```swift
    /// $0.field(\.tags).mergedAsSet()
    /// ```
    /// Elements keep the other device's order, followed by those added on this device. Texts and numbers are equal if
    /// their bytes are equal, so two normal forms of a text are two elements. Elements of another type are compared
    /// with its `==`.
    public func mergedAsSet<Element: Hashable>() where Value == [Element] {
        combined { base, local, remote in
            let (mine, theirs) = (local.map { ExactElement($0) }, remote.map { ExactElement($0) })
            let before = base.map { Set($0.map { ExactElement($0) }) }
            let keeps = Self.keptBySet(before, Set(mine), Set(theirs))
            var seen: Set<ExactElement<Element>> = []
            return (theirs + mine).filter { keeps($0) && seen.insert($0).inserted }.map(\.element)
        }
    }

    /// Merges a set: keeps additions from both devices and applies removals from both. A Swift set has only one of two
    /// normal forms of a text: this device's is kept.
    public func mergedAsSet<Element: Hashable>() where Value == Set<Element> {
        combined { base, local, remote in
            local.union(remote).filter(Self.keptBySet(base, local, remote))
        }
    }

    /// Returns a function that decides if an element of `local` or `remote` is in the merged set. Without a `base`
    /// nothing was removed.
    private static func keptBySet<Element: Hashable>(
        _ base: Set<Element>?, _ local: Set<Element>, _ remote: Set<Element>
    ) -> (Element) -> Bool {
        { element in
            let isInBoth = local.contains(element) && remote.contains(element)
            return isInBoth || !(base?.contains(element) ?? false)
        }
    }

    /// Merges an ordered list, for example the steps of a recipe: elements that this device added, removed or moved are
    /// added, removed or moved in the other device's list.
    ///
    /// An added element comes after the element that it was added after. An element that both devices added is in the
    /// list once. Elements are compared as by `mergedAsSet()`.
    public func mergedInOrder<Element: Hashable>() where Value == [Element] {
        combined { base, local, remote in
            let exact = { (list: [Element]) in list.map { ExactElement($0) } }
            return OrderedMerge(exact(base ?? []), exact(local), exact(remote)).list.map(\.element)
        }
    }

    /// Merges a counter: adds up the changes of both devices, even if they are equal. An unknown value before the
    /// changes counts as zero. The sum is limited to the smallest and the largest number of the type.
    ///
    /// ```swift
    /// $0.field(\.visits).summed()
    /// ```
    public func summed() where Value: FixedWidthInteger {
        isSum = true
        combined { base, local, remote in
            let (change, isChangeTooLarge) = local.subtractingReportingOverflow(base ?? 0)
            let (sum, isSumTooLarge) = remote.addingReportingOverflow(change)
            guard isChangeTooLarge || isSumTooLarge else { return sum }
            return local > base ?? 0 ? .max : .min
        }
    }

    /// Merges a floating-point sum as `summed()` merges a counter.
    public func summed() where Value: BinaryFloatingPoint {
        isSum = true
        combined { base, local, remote in remote + (local - (base ?? 0)) }
    }
}

/// Another device's list with this device's changes.
private struct OrderedMerge<Element: Hashable> {
    private(set) var list: [Element]

    init(_ base: [Element], _ local: [Element], _ remote: [Element]) {
        list = remote
        var theirs: [Element: Int] = [:]
        for case .insert(_, let element, _) in remote.difference(from: base) {
            theirs[element, default: 0] += 1
        }
        let changes = local.difference(from: base)
        for case .remove(_, let element, _) in changes.removals {
            if let index = list.firstIndex(of: element) { list.remove(at: index) }
        }
        for case .insert(let offset, let element, _) in changes.insertions {
            if let count = theirs[element], count > 0 {
                theirs[element] = count - 1
            } else {
                insert(element, behind: local[..<offset])
            }
        }
    }

    /// Inserts after the last of the elements that the list has, or at the beginning.
    private mutating func insert(_ element: Element, behind before: ArraySlice<Element>) {
        for neighbour in before.reversed() {
            guard let index = list.lastIndex(of: neighbour) else { continue }
            return list.insert(element, at: index + 1)
        }
        list.insert(element, at: 0)
    }
}
