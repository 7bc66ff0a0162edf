// Writes src/api/schema.d.ts from the OpenAPI document of the same tree. Every check and test runs it first, so
// the client cannot differ from the API.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';

const root = fileURLToPath(new URL('../..', import.meta.url));
const target = fileURLToPath(new URL('../src/api/schema.d.ts', import.meta.url));

const document = JSON.parse(
  execFileSync(`${root}/dev`, ['python', '-m', 'devtools.openapi'], { encoding: 'utf8', maxBuffer: 1 << 26 }),
);

const types = astToString(
  await openapiTS(document, {
    alphabetize: true,
    // A property with a default may be left out of a request.
    defaultNonNullable: false,
    inject: "import type { Exact } from './json';\n",
    // An integer is a count or a version. A number may have 38 digits, more than a double keeps.
    transform: (schema) =>
      schema.type === 'number' ? ts.factory.createTypeReferenceNode('Exact') : undefined,
  }),
);

// An unchanged file keeps its time, so nothing is built again. A rename replaces the file in one step.
if (!existsSync(target) || readFileSync(target, 'utf8') !== types) {
  const whole = `${target}.${process.pid}`;
  writeFileSync(whole, types);
  renameSync(whole, target);
}
