export { BadZip, ZipArchive, type ZipEntry, type ZipProblem } from './zip-archive.ts';
