/// Computes the distances of vectors from a query.
///
/// A distance is a sum over the components. The kernel adds components 0, 16, 32, … to the first of 16
/// partial sums, components 1, 17, 33, … to the second, and so on; the processor's vector instructions add
/// these in parallel. Up to 15 remaining components have a sum of their own. The partial sums are added in a
/// fixed order, so a distance has the same bits on each processor and in each build.
struct VectorKernel: Sendable {
    private typealias Lanes = SIMD16<Float>

    let distance: YapDatabaseVectorDistance
    /// The query's vector, prepared for comparison.
    let query: [Float]

    /// Returns the distance of a stored vector from the query.
    ///
    /// - Parameter vector: As many components as the query has, aligned or not.
    func distance(of vector: UnsafeRawBufferPointer) -> Float {
        precondition(vector.count == query.count * MemoryLayout<Float>.size)
        return query.withUnsafeBytes { query in
            switch distance {
            case .cosine: Self.cosineDistance(Self.product(query, vector))
            case .dotProduct: -Self.product(query, vector)
            case .squaredEuclidean: Self.squaredDifference(query, vector)
            }
        }
    }

    /// Because of rounding, the product of two vectors of length 1 can be greater than 1. A product that
    /// isn't finite comes from damaged data, and isn't changed.
    private static func cosineDistance(_ product: Float) -> Float {
        let distance = 1 - product
        return distance < 0 && distance.isFinite ? 0 : distance
    }

    private static func product(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Float {
        sum(left, right, { $0 * $1 }, { $0 * $1 })
    }

    private static func squaredDifference(
        _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer
    ) -> Float {
        sum(
            left, right,
            {
                let difference = $0 - $1
                return difference * difference
            }, { ($0 - $1) * ($0 - $1) })
    }

    @inline(__always)
    private static func sum(
        _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer, _ lanesTerm: (Lanes, Lanes) -> Lanes,
        _ term: (Float, Float) -> Float
    ) -> Float {
        var (sums, offset) = (Lanes.zero, 0)
        let lanesBytes = MemoryLayout<Lanes>.size
        while offset + lanesBytes <= left.count {
            sums += lanesTerm(
                left.loadUnaligned(fromByteOffset: offset, as: Lanes.self),
                right.loadUnaligned(fromByteOffset: offset, as: Lanes.self))
            offset += lanesBytes
        }
        var rest: Float = 0
        while offset < left.count {
            rest += term(
                left.loadUnaligned(fromByteOffset: offset, as: Float.self),
                right.loadUnaligned(fromByteOffset: offset, as: Float.self))
            offset += MemoryLayout<Float>.size
        }
        let eight = sums.lowHalf + sums.highHalf
        let four = eight.lowHalf + eight.highHalf
        let two = four.lowHalf + four.highHalf
        return two.x + two.y + rest
    }
}
