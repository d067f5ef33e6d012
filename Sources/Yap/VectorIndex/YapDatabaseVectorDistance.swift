/// Distance of two vectors. Smaller is nearer.
public enum YapDatabaseVectorDistance: String, Sendable {
    /// 1 minus the cosine of the angle: from 0 for the same direction to 2 for the opposite one. Suits most models of
    /// texts and images.
    case cosine
    /// The negative dot product, for models that specify it. The lengths of the vectors count too.
    case dotProduct
    /// The sum of the squared differences of the components.
    case squaredEuclidean
}

extension YapDatabaseVectorDistance {
    /// Maximum length of a vector, for distances in which the length counts. Distances of such vectors are finite
    /// 32-bit numbers.
    static let lengthMax = 0x1p62

    /// Returns a description of a vector's error, or nil if it is valid.
    func mistake(in vector: [Float], dimensions: Int) -> String? {
        if vector.count != dimensions {
            return "the vector has \(vector.count) dimensions, the index has \(dimensions)"
        }
        if let place = vector.firstIndex(where: { !$0.isFinite }) {
            return "component \(place) of the vector is \(vector[place])"
        }
        let length = Self.length(vector)
        if self != .cosine, length > Self.lengthMax { return "the vector is longer than 2^62" }
        return self == .cosine && length == 0 ? "the vector is zero, so it has no direction" : nil
    }

    /// Returns the vector to store and compare: for the cosine, one of length 1.
    func prepared(_ vector: [Float]) -> [Float] {
        guard self == .cosine else { return vector }
        let length = Self.length(vector)
        return vector.map { Float(Double($0) / length) }
    }

    /// In 64 bits, so that neither the squares of the greatest components nor those of the smallest are lost.
    private static func length(_ vector: [Float]) -> Double {
        vector.reduce(0) { $0 + Double($1) * Double($1) }.squareRoot()
    }
}
