import type { Collect } from './collector.ts';

/** Collects what df would show, as one set of series per visible mount. */
export const filesystem: Collect = async (moment, sink) => {
  for (const { device, fstype, mountpoint, readonly, numbers } of await moment.filesystems()) {
    const labels = ['device', device, 'fstype', fstype, 'mountpoint', mountpoint];
    sink.add('node_filesystem_device_error', numbers === undefined ? 1 : 0, labels);
    sink.add('node_filesystem_readonly', readonly ? 1 : 0, labels);
    if (numbers !== undefined) {
      sink.add('node_filesystem_size_bytes', numbers.blocks * numbers.bsize, labels);
      sink.add('node_filesystem_free_bytes', numbers.bfree * numbers.bsize, labels);
      sink.add('node_filesystem_avail_bytes', numbers.bavail * numbers.bsize, labels);
      sink.add('node_filesystem_files', numbers.files, labels);
      sink.add('node_filesystem_files_free', numbers.ffree, labels);
    }
  }
};

const [sector, milli] = [512, 1e-3];

/** Columns of /proc/diskstats in order, each with the size of its unit. */
const columns: readonly (readonly [string, number])[] = [
  ['reads_completed_total', 1],
  ['reads_merged_total', 1],
  ['read_bytes_total', sector],
  ['read_time_seconds_total', milli],
  ['writes_completed_total', 1],
  ['writes_merged_total', 1],
  ['written_bytes_total', sector],
  ['write_time_seconds_total', milli],
  ['io_now', 1],
  ['io_time_seconds_total', milli],
  ['io_time_weighted_seconds_total', milli],
  ['discards_completed_total', 1],
  ['discards_merged_total', 1],
  ['discarded_sectors_total', 1],
  ['discard_time_seconds_total', milli],
  ['flush_requests_total', 1],
  ['flush_requests_time_seconds_total', milli],
];

export const diskstats: Collect = (moment, sink) => {
  for (const { device, values } of moment.disks()) {
    const labels = ['device', device];
    columns
      .slice(0, values.length)
      .forEach(([name, unit], i) => sink.add(`node_disk_${name}`, values[i]! * unit, labels));
  }
};
