"""`import torch` in a process that a test starts. This directory comes first on its path, so it gets minigrad too."""

import adapter

adapter.install()  # sets sys.modules["torch"], which is what the import statement returns
