export { calibrate, type Calibration, enoughLabels, type Label } from './calibration.ts';
export { knownChecks } from './checks.ts';
export { type Checked, checkAssertion } from './claims.ts';
export { type EngineOptions, engineVersion, investigate } from './engine.ts';
export * from './findings.ts';
export * from './snapshot.ts';
export { valuesIn } from './grid.ts';
export { pearson, present, type Sample, usualOf } from './statistics.ts';
export { fetchWindow, symptomSeries, type Windows, windowsOf } from './windows.ts';
