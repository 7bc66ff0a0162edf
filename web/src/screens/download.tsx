/** A button that downloads the file of an export. Its link is valid for minutes, so it is requested at the click. */
import { useState } from 'preact/hooks';
import type { Jobs } from '../project/jobs';
import { reasonOf } from '../ui/refusal';
import { saveFrom } from '../ui/save';
import { words } from '../words';

export function Download({ jobs, job }: { readonly jobs: Jobs; readonly job: string }) {
  const [problem, setProblem] = useState('');
  const fetch = async () => {
    setProblem('');
    try {
      const { url } = await jobs.read(job);
      if (url === null) setProblem(words.export.gone);
      else saveFrom(url);
    } catch (error) {
      setProblem(reasonOf(error));
    }
  };
  return (
    <>
      <button class="button primary" type="button" onClick={() => void fetch()}>
        {words.export.download}
      </button>
      {problem && <p role="alert">{problem}</p>}
    </>
  );
}
