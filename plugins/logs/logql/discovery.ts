import { labelsOf, labelValue, withLabel, type Labels } from 'svc/query';

/** Labels that name the service of a stream, best first. */
const serviceLabels = [
  'service',
  'app',
  'application',
  'app_name',
  'name',
  'app_kubernetes_io_name',
  'container',
  'container_name',
  'k8s_container_name',
  'component',
  'workload',
  'job',
  'k8s_job_name',
] as const;

/** The stream's labels with `service_name` among them, as Loki's clients expect. */
export function withServiceName(labels: Labels): Labels {
  if (labelValue(labels, 'service_name') !== '') {
    return labels;
  }
  const named = serviceLabels.map((name) => labelValue(labels, name)).find((value) => value !== '');
  return withLabel(labels, 'service_name', named ?? 'unknown_service');
}

const levelLabels = [
  'detected_level',
  'level',
  'LEVEL',
  'Level',
  'severity',
  'SEVERITY',
  'Severity',
  'lvl',
  'LVL',
  'Lvl',
  'severity_text',
] as const;

const levels: ReadonlyMap<string, string> = new Map([
  ['trace', 'trace'],
  ['trc', 'trace'],
  ['debug', 'debug'],
  ['dbg', 'debug'],
  ['info', 'info'],
  ['inf', 'info'],
  ['information', 'info'],
  ['warn', 'warn'],
  ['wrn', 'warn'],
  ['warning', 'warn'],
  ['error', 'error'],
  ['err', 'error'],
  ['critical', 'critical'],
  ['fatal', 'fatal'],
]);

/** Max bytes of a line that are read for its level: a long line names it early or not at all. */
const readFor = 2048;
const inJson = /"(?:level|lvl|severity|severity_text)"\s{0,8}:\s{0,8}"([A-Za-z]{1,16})"/i;
const inLogfmt = /(?:^|[\s,])(?:level|lvl|severity)="?([A-Za-z]{1,16})/i;
const inWords = /\b(trace|debug|info|warn|warning|error|err|critical|fatal)\b/i;

/**
 * Returns the level of a line: from a label or its metadata, else from the text; `unknown` if there
 * is none.
 */
export function detectedLevel(
  line: string,
  labels: Labels,
  metadata: Labels = labelsOf([]),
): string {
  for (const name of levelLabels) {
    const said = levels.get((labelValue(metadata, name) || labelValue(labels, name)).toLowerCase());
    if (said !== undefined) {
      return said;
    }
  }
  const head = line.length > readFor ? line.slice(0, readFor) : line;
  const field = (head.trimStart().startsWith('{') ? inJson : inLogfmt).exec(head)?.[1];
  const level = field === undefined ? undefined : levels.get(field.toLowerCase());
  return level ?? levels.get(inWords.exec(head)?.[1]?.toLowerCase() ?? '') ?? 'unknown';
}
