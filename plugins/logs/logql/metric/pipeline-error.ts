import { type Labels, labelValue, type QueryError, queryError } from 'svc/query';
import { quote } from 'svc/template';

import { errorLabel } from '../pipeline/working-line.ts';

/** Numbers over lines that could not be parsed would be wrong numbers; the asker says what to do with such lines. */
export function pipelineError(labels: Labels): QueryError {
  const kind = labelValue(labels, errorLabel);
  const pairs: string[] = [];
  for (let i = 0; i < labels.length; i += 2) {
    pairs.push(`${labels[i]!}=${quote(labels[i + 1]!)}`);
  }
  return queryError(
    'bad_data',
    `pipeline error: '${kind}' for series: '{${pairs.join(', ')}}'.\n` +
      `Use a label filter to intentionally skip this error. (e.g | __error__!="${kind}").\n` +
      'To skip all potential errors you can match empty errors.(e.g __error__="")\n' +
      'The label filter can also be specified after unwrap. (e.g | unwrap latency | __error__="" )\n',
  );
}
