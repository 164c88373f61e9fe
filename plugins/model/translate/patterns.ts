export type Dialect = 'promql' | 'logql' | 'traceql';

/** Pattern of a frequent question, with its query. */
interface Pattern {
  /** Groups of words, one of each of which must occur in the question. */
  readonly words: readonly RegExp[];
  /** Query; `$window` is the time that the question names, `$subject` its subject, as a matcher. */
  readonly query: string;
  readonly explanation: string;
}

const cpu = /\b(?:cpu|processors?|cores?)\b/i;
const memory = /\b(?:memory|ram)\b/i;
const disk = /\b(?:disks?|file ?systems?|volumes?|partitions?|storage)\b/i;
const full = /\b(?:full|usage|used|space|fill\w*)\b/i;
const network = /\b(?:network|traffic|bandwidth|bytes)\b/i;
const errors = /\b(?:errors?|failures?|failed|exceptions?|panics?)\b/i;
const requests = /\b(?:traces?|requests?|spans?|calls?)\b/i;
const slow = /\b(?:slow\w*|latency|longer|duration|took|takes)\b/i;
const count = /\b(?:how many|count|number|rate|per second|often)\b/i;
const most = /\b(?:top|most|highest|busiest)\b/i;
const database = /\b(?:database|sql|queries|query)\b/i;

const pattern = (words: readonly RegExp[], query: string, explanation: string): Pattern => ({
  words,
  query,
  explanation,
});

const library: Readonly<Record<Dialect, readonly Pattern[]>> = {
  promql: [
    pattern(
      [cpu],
      'avg by (device_id) (avg_over_time(node_cpu_usage_percent$subject[$window]))',
      'CPU usage of each host in percent, on average',
    ),
    pattern(
      [cpu, most],
      'topk(10, avg_over_time(node_cpu_usage_percent$subject[$window]))',
      'the ten busiest hosts by CPU',
    ),
    pattern(
      [/\bload\b/i],
      'avg_over_time(node_load5$subject[$window])',
      'load average of each host',
    ),
    pattern(
      [memory],
      'avg_over_time(node_memory_used_percent$subject[$window])',
      'memory in use on each host in percent',
    ),
    pattern(
      [memory, most],
      'topk(10, node_memory_used_percent$subject)',
      'the ten hosts that use most of their memory',
    ),
    pattern(
      [/\bswap\w*\b/i],
      'node_swap_used_percent$subject',
      'swap in use on each host in percent',
    ),
    pattern(
      [disk, full],
      'node_filesystem_used_percent$subject',
      'how full each file system is, in percent',
    ),
    pattern(
      [disk, /\b(?:free|left|available)\b/i],
      'node_filesystem_avail_bytes$subject',
      'bytes that are left on each file system',
    ),
    pattern(
      [disk, /\b(?:when|until|predict\w*|forecast|will)\b/i, full],
      'predict_linear(node_filesystem_used_percent$subject[6h], 86400) > 95',
      'file systems that will be over 95 % full within a day',
    ),
    pattern(
      [disk, /\b(?:busy|i\/?o|utili[sz]ation|latency)\b/i],
      'node_disk_io_utilization_percent$subject',
      'how busy each disk is, in percent',
    ),
    pattern(
      [/\binodes?\b/i],
      '100 * (1 - node_filesystem_files_free$subject / node_filesystem_files$subject)',
      'inodes in use on each file system in percent',
    ),
    pattern(
      [network, /\b(?:in|incoming|receiv\w*|download)\b/i],
      'node_network_receive_bytes_per_second$subject',
      'bytes that each interface receives in a second',
    ),
    pattern(
      [network],
      'node_network_transmit_bytes_per_second$subject',
      'bytes that each interface sends in a second',
    ),
    pattern(
      [/\b(?:uptime|reboot\w*|up since)\b/i],
      'node_uptime_seconds$subject',
      'seconds since each host was started',
    ),
    pattern(
      [/\b(?:down|unreachable|targets?)\b/i],
      'up$subject == 0',
      'targets that do not answer',
    ),
  ],
  logql: [
    pattern(
      [errors],
      '{job=~".+"$subject} | detected_level=~"error|critical|fatal"',
      'lines of errors',
    ),
    pattern(
      [errors, count],
      'sum by (job) (count_over_time({job=~".+"$subject} | detected_level=~"error|critical|fatal" [$window]))',
      'how many lines of errors each job wrote',
    ),
    pattern([/\bwarn\w*\b/i], '{job=~".+"$subject} | detected_level="warn"', 'warnings'),
    pattern(
      [/\b(?:log ?ins?|sign ?ins?|passwords?|ssh)\b/i, errors],
      '{job=~".+"$subject} |~ "(?i)(failed password|authentication failure|invalid user)"',
      'failed logins',
    ),
    pattern(
      [/\b(?:oom|out of memory|killed)\b/i],
      '{job=~".+"$subject} |~ "(?i)(out of memory|oom-kill)"',
      'processes that were killed for memory',
    ),
    pattern(
      [/\b(?:timed? ?out|timeouts?)\b/i],
      '{job=~".+"$subject} |~ "(?i)(timeout|timed out)"',
      'lines about time-outs',
    ),
    pattern(
      [count, /\b(?:lines?|logs?|volume)\b/i],
      'sum by (job) (count_over_time({job=~".+"$subject}[$window]))',
      'how many lines each job wrote',
    ),
    pattern([/\b(?:logs?|lines?)\b/i], '{job=~".+"$subject}', 'all lines'),
  ],
  traceql: [
    pattern([errors], '{ status = error$subject }', 'spans that failed'),
    pattern([slow], '{ duration > 1s$subject }', 'spans that took longer than a second'),
    pattern(
      [/\b5\d\d\b|server errors?/i],
      '{ span.http.response.status_code >= 500$subject }',
      'requests that a server could not answer',
    ),
    pattern([database], '{ span.db.system != nil$subject }', 'calls of databases'),
    pattern(
      [database, slow],
      '{ span.db.system != nil && duration > 500ms$subject }',
      'calls of databases that took longer than half a second',
    ),
    pattern([requests], '{ kind = server$subject }', 'requests as their servers saw them'),
  ],
};

export interface Suggestion {
  readonly query: string;
  readonly explanation: string;
}

/** Returns the best matching pattern, filled in; undefined if none matches. */
export function patternFor(dialect: Dialect, prompt: string): Suggestion | undefined {
  const fitting = library[dialect].filter(({ words }) =>
    words.every((group) => group.test(prompt)),
  );
  const [best] = fitting.toSorted((a, b) => b.words.length - a.words.length);
  return (
    best && {
      query: best.query
        .replaceAll('$window', () => windowIn(prompt))
        .replaceAll('$subject', () => subjectIn(dialect, prompt)),
      explanation: best.explanation,
    }
  );
}

function windowIn(prompt: string): string {
  const [, amount = '', unit = ''] =
    /\b(?:last|past|over|within)\s+(\d{1,4})?\s*(m|h|d)(?:in(?:ute)?s?|ours?|ays?|rs?)?\b/i.exec(
      prompt,
    ) ?? [];
  return unit === '' ? '5m' : `${Number(amount) || 1}${unit.toLowerCase()}`;
}

/** A device or a service that is named by number or by word, as the matcher of its dialect. */
function subjectIn(dialect: Dialect, prompt: string): string {
  const device = /\bdevice\s+#?(\d{1,12})\b/i.exec(prompt)?.[1];
  const service = /\b(?:service|job)\s+["']?([\w.-]{1,64})/i.exec(prompt)?.[1];
  switch (dialect) {
    case 'promql':
      return device === undefined ? '' : `{device_id="${device}"}`;
    case 'logql':
      return (
        (device === undefined ? '' : `, device_id="${device}"`) +
        (service === undefined ? '' : `, job="${service}"`)
      );
    case 'traceql':
      return service === undefined ? '' : ` && resource.service.name = "${service}"`;
  }
}
