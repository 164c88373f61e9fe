import { errors as authoring } from './authoring/errors.ts';
import { errors as incident } from './incident/errors.ts';
import { errors as incidentLedger } from './incident/ledger/errors.ts';
import { errors as instance } from './instance/errors.ts';
import { errors as preview } from './preview/errors.ts';
import { errors as queries } from './queries/errors.ts';
import { errors as recording } from './recording/errors.ts';
import { errors as ruleFile } from './rule-file/errors.ts';
import { errors as rule } from './rule/errors.ts';
import { errors as silence } from './silence/errors.ts';
import { errors as unitTest } from './unit-test/errors.ts';

/** Errors of alerts, each folder with its own. */
export const errors = [
  authoring,
  incident,
  incidentLedger,
  instance,
  preview,
  queries,
  recording,
  rule,
  ruleFile,
  silence,
  unitTest,
];
