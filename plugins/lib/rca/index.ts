export { calibrate, type Calibration, enoughLabels, type Label } from './causes/calibration.ts';
export { knownChecks } from './signals/checks.ts';
export { type Checked, checkAssertion } from './signals/claims.ts';
export { type EngineOptions, engineVersion, investigate, namesNothing } from './engine.ts';
export * from './signals/findings.ts';
export * from './signals/snapshot.ts';
export { valuesIn } from './signals/grid.ts';
export { pearson, present, type Sample, usualOf } from './signals/statistics.ts';
export { fetchWindow, symptomSeries, type Windows, windowsOf } from './signals/windows.ts';
