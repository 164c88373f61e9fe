export { type EngineOptions, engineVersion, investigate } from './engine.ts';
export * from './findings.ts';
export * from './snapshot.ts';
export { fetchWindow } from './windows.ts';
