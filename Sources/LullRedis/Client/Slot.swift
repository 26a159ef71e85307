/// The slots of a cluster: each key is in one of them, and each slot on one master.
enum Slot {
    static let count = 16384

    /// Returns the slot of a key: of the part in its first braces, if there is one.
    static func of(_ key: String) -> Int {
        let bytes = Array(key.utf8)
        guard let open = bytes.firstIndex(of: UInt8(ascii: "{")),
            let close = bytes[(open + 1)...].firstIndex(of: UInt8(ascii: "}")), close > open + 1
        else { return crc(bytes[...]) % count }
        return crc(bytes[(open + 1)..<close]) % count
    }

    /// CRC-16/XMODEM.
    private static func crc(_ bytes: ArraySlice<UInt8>) -> Int {
        var crc: UInt16 = 0
        for byte in bytes {
            crc ^= UInt16(byte) << 8
            for _ in 0..<8 { crc = crc & 0x8000 != 0 ? crc << 1 ^ 0x1021 : crc << 1 }
        }
        return Int(crc)
    }
}

/// The shards of a namespace: each key is in one of them.
enum Shard {
    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { crc, _ in crc & 1 != 0 ? 0xEDB8_8320 ^ (crc >> 1) : crc >> 1 }
    }

    /// Returns the shard of a key: its CRC-32, as that of zlib, modulo the number of shards.
    static func of(_ key: [UInt8], among count: Int) -> Int {
        if count == 1 { return 0 }
        let crc = ~key.reduce(~UInt32(0)) { crc, byte in table[Int(UInt8(truncatingIfNeeded: crc) ^ byte)] ^ (crc >> 8)
        }
        return Int(crc) % count
    }
}
