import type { LabelRecord } from 'svc/contracts/metricsdb';

import { inPromql } from '../variables/value-source.ts';

/** `{{device_id}} {{mountpoint}}` with the labels of one series; without a legend, the series as PromQL writes it. */
export function nameOf(labels: LabelRecord, legend: string): string {
  if (legend === '') {
    return written(labels);
  }
  return legend.replaceAll(/\{\{\s*([^{}]*[^{}\s])\s*\}\}/g, (_whole, name: string) =>
    Object.hasOwn(labels, name) ? labels[name]! : '',
  );
}

/** Writes a series as PromQL does. */
export function written(labels: LabelRecord): string {
  const pairs = Object.keys(labels)
    .filter((name) => name !== '__name__')
    .sort()
    .map((name) => `${inPromql(name)}=${JSON.stringify(labels[name])}`);
  const metric = Object.hasOwn(labels, '__name__') ? labels['__name__']! : '';
  if (!/^[\w:]*$/.test(metric)) {
    return `{${[JSON.stringify(metric), ...pairs].join(', ')}}`;
  }
  return pairs.length > 0 || metric === '' ? `${metric}{${pairs.join(', ')}}` : metric;
}
