// What is shown in place of a screen that failed to be drawn or loaded; the frame around it goes on working.
import { Component, type ReactNode } from "react";
import { useWords } from "../words";

interface Props {
  children: ReactNode;
}

export class Guarded extends Component<Props, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true };
  }

  override render(): ReactNode {
    return this.state.failed ? <Broken /> : this.props.children;
  }
}

function Broken() {
  const words = useWords();
  return (
    <div className="empty" role="alert">
      <p>{words.common.broken}</p>
      <p><button type="button" onClick={() => location.reload()}>{words.common.reload}</button></p>
    </div>
  );
}
