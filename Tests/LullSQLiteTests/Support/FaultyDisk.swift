import FaultVFS
import Lull

/// A disk that can be made to fail, for the files of one test.
final class FaultyDisk: @unchecked Sendable {
    // Proof of @unchecked Sendable: the pointer never changes, and the disk has its own lock.
    private let disk: OpaquePointer
    /// SQLite's name of the disk.
    let name: String
    private static let numbers = Guarded(0)

    /// A set of SQLite's calls.
    struct Calls: OptionSet {
        let rawValue: UInt32

        static let open = Calls(rawValue: FAULT_OPEN.rawValue)
        static let read = Calls(rawValue: FAULT_READ.rawValue)
        static let write = Calls(rawValue: FAULT_WRITE.rawValue)
        static let sync = Calls(rawValue: FAULT_SYNC.rawValue)
        static let truncate = Calls(rawValue: FAULT_TRUNCATE.rawValue)
        static let delete = Calls(rawValue: FAULT_DELETE.rawValue)
        static let lock = Calls(rawValue: FAULT_LOCK.rawValue)
        static let sharedMemory = Calls(rawValue: FAULT_SHARED_MEMORY.rawValue)
        static let any = Calls(rawValue: FAULT_ANY.rawValue)
    }

    /// A set of kinds of files.
    struct Files: OptionSet {
        let rawValue: UInt32

        static let database = Files(rawValue: FAULT_DATABASE.rawValue)
        static let log = Files(rawValue: FAULT_LOG.rawValue)
        static let any = Files(rawValue: FAULT_ANY_FILE.rawValue)
    }

    /// The effect of a failing call.
    enum Effect: CaseIterable {
        case cut, kill, error, errorAndLoss, full

        fileprivate var raw: fault_effect {
            switch self {
            case .cut: FAULT_CUT
            case .kill: FAULT_KILL
            case .error: FAULT_ERROR
            case .errorAndLoss: FAULT_ERROR_AND_LOSS
            case .full: FAULT_FULL
            }
        }
    }

    init(seed: UInt64 = 1) {
        let number = Self.numbers.change { number in
            number += 1
            return number
        }
        name = "faulty-\(number)"
        guard let disk = fault_disk_make(name, seed) else { preconditionFailure("out of memory") }
        self.disk = disk
    }

    deinit {
        precondition(openFiles == 0, "files of the disk are still open")
        fault_disk_remove(disk)
    }

    /// Makes a call fail, or all calls from that one on, until the disk is mended.
    ///
    /// - Parameter cut: The number of later calls after which the power is cut, too.
    func arm(
        _ effect: Effect, at calls: Calls = .any, of files: Files = .any, after others: Int = 0, lasts: Bool = false,
        cut: Int? = nil
    ) {
        fault_disk_arm(disk, Int64(others), Int32(calls.rawValue), Int32(files.rawValue), effect.raw, lasts)
        if let cut { fault_disk_cut_after(disk, Int64(cut)) }
    }

    func mend() { fault_disk_mend(disk) }

    /// Whether the armed failure has happened.
    var hasFailed: Bool { fault_disk_has_failed(disk) }

    func cut() { fault_disk_cut(disk) }

    /// Whether the power was cut, or the process killed.
    var isOff: Bool { fault_disk_is_off(disk) }

    /// Starts again with what has survived. No file may be open.
    ///
    /// - Returns: The number of writes that were lost at least in part.
    @discardableResult
    func start() -> Int {
        let lost = fault_disk_start(disk)
        precondition(lost >= 0, "files cannot be restored while they are open")
        return Int(lost)
    }

    func protect(_ isProtected: Bool) { fault_disk_protect(disk, isProtected) }

    func calls(_ calls: Calls, of files: Files = .any) -> Int {
        Int(fault_disk_calls(disk, Int32(calls.rawValue), Int32(files.rawValue)))
    }

    /// The number of writes that may not be on the disk.
    var uncertain: Int { Int(fault_disk_uncertain(disk)) }

    var openFiles: Int { Int(fault_disk_open_files(disk)) }
}
