import { useRoute } from 'wouter';
import { ArtifactPage } from './ArtifactPage.tsx';
import { ArtifactList } from './ArtifactList.tsx';
import { EditPage } from './EditPage.tsx';
import { NewPage } from './NewPage.tsx';

/** Artifacts: what there is, one of them, and how it is changed. */
export default function ArtifactsPage() {
  const [isNew] = useRoute('/artifacts/new');
  const [isEdit, edit] = useRoute('/artifacts/:id/edit');
  const [isOne, one] = useRoute('/artifacts/:id');
  return <div className="artifacts">{isNew ? <NewPage /> : isEdit ? <EditPage key={edit.id} id={edit.id} /> : isOne ? <ArtifactPage key={one.id} id={one.id} /> : <ArtifactList />}</div>;
}
